// cmake/kernels/listing.cpp: stands in for NVRTC while the wheel is built: writes down the texts that it is given, and compiles nothing.
// Also for cuSOLVER and cuFFT, which have kernels of ours around them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <string>

#include "jit/pack.h"

namespace {

struct Listed {
    std::string text, ptx;
};

template <class Bytes> int give(const std::string& value, Bytes* to) {
    std::memcpy(to, value.c_str(), value.size() + 1);
    return 0;
}

/// What the fake driver takes for the kernel: its name.
std::string ptx_of(const std::string& text) {
    static const std::regex kernel(R"((?:KERNEL|__launch_bounds__)\([^)]*\)\s+(\w+)\s*\()");
    std::string ptx = "\n";
    for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at) ptx += ".entry " + (*at)[1].str() + " ()\n";
    return ptx;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 12;
    *minor = 0;  // takes no options but those of every NVRTC
    return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
    *count = 2;
    return 0;
}
int nvrtcGetSupportedArchs(int* list) {
    list[0] = 80;
    list[1] = 90;
    return 0;
}
int nvrtcCreateProgram(Listed** program, const char* text, const char*, int, const char* const*, const char* const*) {
    *program = new Listed{text, {}};
    return 0;
}
int nvrtcDestroyProgram(Listed** program) {
    delete *program;
    *program = nullptr;
    return 0;
}
int nvrtcCompileProgram(Listed* program, int count, const char* const* options) {
    std::string joined;
    for (int i = 0; i < count; ++i) {
        if (std::strncmp(options[i], "--gpu-architecture", 18) != 0) joined += std::string(options[i]) + "\n";
    }
    const std::string whole = pardo::jit::packed_text(joined, program->text);
    const char* folder = std::getenv("PARDO_KERNEL_LISTING");
    if (!folder) return 5;
    const std::string path = std::string(folder) + "/" + pardo::hash128(whole).hex();
    std::ofstream(path + ".new") << whole;
    if (std::rename((path + ".new").c_str(), path.c_str()) != 0) return 5;
    program->ptx = ptx_of(program->text);
    return 0;
}
int nvrtcGetPTXSize(Listed* program, std::size_t* bytes) {
    *bytes = program->ptx.size() + 1;
    return 0;
}
int nvrtcGetPTX(Listed* program, char* ptx) { return give(program->ptx, ptx); }
int nvrtcGetCUBINSize(Listed* program, std::size_t* bytes) { return nvrtcGetPTXSize(program, bytes); }
int nvrtcGetCUBIN(Listed* program, char* cubin) { return give(program->ptx, cubin); }
int nvrtcGetProgramLogSize(Listed*, std::size_t* bytes) {
    *bytes = 1;
    return 0;
}
int nvrtcGetProgramLog(Listed*, char* log) { return give({}, log); }
const char* nvrtcGetErrorString(int) { return "PARDO_KERNEL_LISTING names no folder"; }

// --- cuSOLVER, and what it takes of cuBLAS: nothing is computed ---------------------------------------------------------------------

#define DOES_NOTHING(name) \
    int name(...) { return 0; }
#define FOR_BOTH(name) DOES_NOTHING(name) DOES_NOTHING(name##_bufferSize)
#define FOR_NUMBER(L, q, e)                   \
    FOR_BOTH(cusolverDn##L##getrf)            \
    FOR_BOTH(cusolverDn##L##geqrf)            \
    FOR_BOTH(cusolverDn##L##q)                \
    FOR_BOTH(cusolverDn##L##gesvdj)           \
    FOR_BOTH(cusolverDn##L##e)                \
    DOES_NOTHING(cusolverDn##L##getrs)        \
    DOES_NOTHING(cusolverDn##L##potrfBatched) \
    DOES_NOTHING(cublas##L##geam) DOES_NOTHING(cublas##L##getrfBatched) DOES_NOTHING(cublas##L##getrsBatched)
FOR_NUMBER(S, orgqr, syevd)
FOR_NUMBER(D, orgqr, syevd)
FOR_NUMBER(C, ungqr, heevd)
FOR_NUMBER(Z, ungqr, heevd)
FOR_BOTH(cusolverDnXpotrf)
FOR_BOTH(cusolverDnXgeev)
FOR_BOTH(cusolverDnXsyevBatched)
DOES_NOTHING(cusolverDnCreate)
DOES_NOTHING(cusolverDnDestroy)
DOES_NOTHING(cusolverDnSetStream)
DOES_NOTHING(cusolverDnCreateGesvdjInfo)
DOES_NOTHING(cusolverDnDestroyGesvdjInfo)
DOES_NOTHING(cusolverDnCreateParams)
DOES_NOTHING(cusolverDnDestroyParams)
DOES_NOTHING(cublasCreate_v2)
DOES_NOTHING(cublasDestroy_v2)
DOES_NOTHING(cublasSetStream_v2)

// --- cuFFT ---------------------------------------------------------------------------------------------------------------------------

DOES_NOTHING(cufftCreate)
DOES_NOTHING(cufftDestroy)
DOES_NOTHING(cufftSetStream)
DOES_NOTHING(cufftMakePlanMany64)
DOES_NOTHING(cufftExecC2C)
DOES_NOTHING(cufftExecZ2Z)
DOES_NOTHING(cufftExecR2C)
DOES_NOTHING(cufftExecD2Z)
DOES_NOTHING(cufftExecC2R)
DOES_NOTHING(cufftExecZ2D)

}  // extern "C"
