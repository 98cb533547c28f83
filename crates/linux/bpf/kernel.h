/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's types, as far as these programs touch them. The loader finds the fields in the running kernel by name (CO-RE),
 * so that building needs no description of any kernel.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* Address families, protocols and options of the user interface (linux/socket.h, linux/in.h, linux/tcp.h). */
#define IPPROTO_TCP 6
#define SOL_TCP IPPROTO_TCP
#define TCP_CONGESTION 13
