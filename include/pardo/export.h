// include/pardo/export.h: which symbols the shared library shows; everything else is hidden.
#pragma once

#define PARDO_API __attribute__((visibility("default")))
