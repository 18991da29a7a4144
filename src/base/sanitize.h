/** Whether this is a build with the sanitizers. They exclude two layers of the lock-down: the memory limit (shadow memory) and the
 * system call filter (leak check, reports); and their reports need fault signals and standard error. */
#ifndef CM_BASE_SANITIZE_H
#define CM_BASE_SANITIZE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__)
#define CM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define CM_SANITIZED 1
#endif
#endif
#ifndef CM_SANITIZED
#define CM_SANITIZED 0
#endif

#endif
