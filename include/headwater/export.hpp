#pragma once

// Marks what a shared library offers: everything else in it is hidden (-fvisibility=hidden).
#if defined(__GNUC__)
#define HEADWATER_EXPORT __attribute__((visibility("default")))
#else
#define HEADWATER_EXPORT
#endif
