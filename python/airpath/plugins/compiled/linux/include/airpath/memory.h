/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory: every allocation is zeroed. */
#ifndef AIRPATH_MEMORY_H
#define AIRPATH_MEMORY_H

#include "airpath/language.h"

void *memset(void *to, int value, size_t count);
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
int memcmp(const void *one, const void *other, size_t count);
int strcmp(const char *one, const char *other);
size_t strlen(const char *text);
void *calloc(size_t count, size_t size);
void free(void *memory);

#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
#define __GFP_ZERO 0
#define kcalloc(count, size, flags) calloc(count, size)
#define kvcalloc(count, size, flags) calloc(count, size)
#define kmalloc_array(count, size, flags) calloc(count, size)
#define kzalloc(size, flags) calloc(1, size)
#define kmalloc(size, flags) calloc(1, size)
#define kfree(memory) free((void *)(memory))
#define kvfree(memory) free((void *)(memory))

#endif
