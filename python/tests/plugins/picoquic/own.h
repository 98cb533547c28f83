/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define OWN_REQUIRES(condition) ((void)(1 / (int)!!(condition)))
