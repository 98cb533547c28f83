/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "picoquic_internal.h"
