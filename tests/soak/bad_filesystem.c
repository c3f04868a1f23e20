/* Loaded before the C library: the manners of network filesystems. No file and no folder can be synced (EINVAL), every
   third write takes only a part of what it was given, and every fifth is interrupted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

int fsync(int file) { (void)file; errno = EINVAL; return -1; }
int fdatasync(int file) { (void)file; errno = EINVAL; return -1; }

ssize_t write(int file, const void* bytes, size_t count) {
  static atomic_uint calls;
  ssize_t (*real)(int, const void*, size_t) = (ssize_t (*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  const unsigned call = atomic_fetch_add(&calls, 1);
  if (file > 2 && call % 5 == 4) { errno = EINTR; return -1; }
  if (file > 2 && call % 3 == 2 && count > 10) count = count / 2;
  return real(file, bytes, count);
}
