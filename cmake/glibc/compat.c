/* cmake/glibc/compat.c: what glibc has had since 2.28 and this module calls, in terms of what it had then. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

/* Hidden: LLVM's archives and ours link to these, and no other library of the process sees them. */
#define COMPAT __attribute__((visibility("hidden")))

/* 2.32. Whether the process has one thread only; "no" costs libstdc++'s counters an atomic instruction. */
COMPAT char __libc_single_threaded = 0;

/* 2.33. Before, headers turned these into calls with the number of the struct's layout. */
extern int __xstat(int, const char*, struct stat*);
extern int __lxstat(int, const char*, struct stat*);
extern int __fxstat(int, int, struct stat*);
extern int __fxstatat(int, int, const char*, struct stat*, int);
#ifdef __x86_64__
enum { stat_layout = 1 };
#else
enum { stat_layout = 0 };
#endif
COMPAT int stat(const char* path, struct stat* to) { return __xstat(stat_layout, path, to); }
COMPAT int lstat(const char* path, struct stat* to) { return __lxstat(stat_layout, path, to); }
COMPAT int fstat(int fd, struct stat* to) { return __fxstat(stat_layout, fd, to); }
COMPAT int fstatat(int folder, const char* path, struct stat* to, int flags) { return __fxstatat(stat_layout, folder, path, to, flags); }

/* 2.30. The newer function where the process has it. Else on the wall clock, as libstdc++ did then: its callers look at the steady clock
   again and wait once more if this returned too early. */
COMPAT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
    typedef int (*Wait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
    static Wait newer;
    static int looked;
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&newer, (Wait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"), __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    const Wait wait = __atomic_load_n(&newer, __ATOMIC_RELAXED);
    if (wait) return wait(condition, mutex, clock, until);
    const int64_t second = 1000000000;
    struct timespec now, wall;
    if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0) return EINVAL;
    const int64_t seconds = until->tv_sec - now.tv_sec;
    if (seconds > INT32_MAX) { /* for ever: a sum would overflow */
        wall.tv_sec += INT32_MAX;
        return pthread_cond_timedwait(condition, mutex, &wall);
    }
    int64_t nanoseconds = until->tv_nsec - now.tv_nsec + wall.tv_nsec;
    wall.tv_sec += seconds;
    for (; nanoseconds < 0; nanoseconds += second) --wall.tv_sec;
    for (; nanoseconds >= second; nanoseconds -= second) ++wall.tv_sec;
    wall.tv_nsec = nanoseconds;
    if (wall.tv_sec < 0) return ETIMEDOUT;
    return pthread_cond_timedwait(condition, mutex, &wall);
}

#if __GLIBC_PREREQ(2, 33)
/* 2.33. LLVM's statistics ask for it; the older one counts in int. */
COMPAT struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const struct mallinfo m = mallinfo();
    const struct mallinfo2 wide = {(unsigned)m.arena,   (unsigned)m.ordblks, (unsigned)m.smblks,   (unsigned)m.hblks,    (unsigned)m.hblkhd,
                                   (unsigned)m.usmblks, (unsigned)m.fsmblks, (unsigned)m.uordblks, (unsigned)m.fordblks, (unsigned)m.keepcost};
    return wide;
}
#endif

/* 2.36. LLVM names temporary files with it. The kernel's numbers come whole below 256 bytes, once its pool is ready. */
COMPAT uint32_t arc4random(void) {
    uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number) continue;
    return number;
}
