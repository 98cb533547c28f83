/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the headers of the kernel for congestion control modules of Linux. The compiler reads it before the source;
 * the headers that a source includes are empty files. It declares what modules use, under the names of the kernel, and
 * contains none of its code. If a source uses anything else, the compiler names it.
 */
#ifndef AIRPATH_KERNEL_H
#define AIRPATH_KERNEL_H

#include "airpath/language.h"
#include "airpath/arithmetic.h"
#include "airpath/clock.h"
#include "airpath/memory.h"
#include "airpath/module.h"
#include "airpath/bpf.h"
#include "airpath/minmax.h"
#include "airpath/connection.h"
#include "airpath/tcp.h"

#endif
