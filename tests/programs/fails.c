// Loaded before all other libraries (LD_PRELOAD): call number FAILS of those that write, of the process that begins, fails as on a full
// disk, and so do all that follow. With FAILS_ALLOCATION, allocation number FAILS of 4 kB or more finds no memory instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

static long left = -1;
static int of_memory;

__attribute__((constructor)) static void begin(void) {
  const char *fails = getenv("FAILS");
  of_memory = getenv("FAILS_ALLOCATION") != NULL;
  left = fails ? atol(fails) : -1;
}

static int fails(void) {
  if (left < 0 || of_memory) return 0;
  if (left > 1) return left--, 0;
  errno = ENOSPC;
  return 1;
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t write(int file, const void *bytes, size_t count) {
  if (file > 2 && fails()) return -1;
  return NEXT(ssize_t, "write", int, const void *, size_t)(file, bytes, count);
}

int fsync(int file) { return fails() ? -1 : NEXT(int, "fsync", int)(file); }

int rename(const char *from, const char *to) {
  return fails() ? -1 : NEXT(int, "rename", const char *, const char *)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
  return fails() ? -1 : NEXT(int, "linkat", int, const char *, int, const char *, int)(a, from, b, to, flags);
}

int mkdir(const char *path, mode_t mode) { return fails() ? -1 : NEXT(int, "mkdir", const char *, mode_t)(path, mode); }

static void *(*real_malloc)(size_t);

void *malloc(size_t size) {
  if (!real_malloc) real_malloc = NEXT(void *, "malloc", size_t);
  if (of_memory && size >= 4096 && left >= 0) {
    if (left <= 1) return errno = ENOMEM, NULL;
    left--;
  }
  return real_malloc(size);
}
