// src/backend/opencl/loader.h: OpenCL's functions, loaded at run time: from an ICD loader, or from a vendor's library itself.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue: it is there on every version
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>
#include <vector>

namespace pardo::opencl {

// Functions that every implementation of OpenCL 1.2 has.
#define PARDO_OPENCL_FUNCTIONS(F)  \
    F(clGetPlatformInfo)           \
    F(clGetDeviceIDs)              \
    F(clGetDeviceInfo)             \
    F(clCreateSubDevices)          \
    F(clCreateContext)             \
    F(clCreateCommandQueue)        \
    F(clRetainCommandQueue)        \
    F(clReleaseCommandQueue)       \
    F(clGetCommandQueueInfo)       \
    F(clCreateBuffer)              \
    F(clCreateSubBuffer)           \
    F(clReleaseMemObject)          \
    F(clCreateImage)               \
    F(clGetSupportedImageFormats)  \
    F(clCreateSampler)             \
    F(clCreateProgramWithSource)   \
    F(clCreateProgramWithBinary)   \
    F(clBuildProgram)              \
    F(clCompileProgram)            \
    F(clLinkProgram)               \
    F(clGetProgramInfo)            \
    F(clGetProgramBuildInfo)       \
    F(clReleaseProgram)            \
    F(clCreateKernel)              \
    F(clReleaseKernel)             \
    F(clGetKernelInfo)             \
    F(clGetKernelArgInfo)          \
    F(clGetKernelWorkGroupInfo)    \
    F(clSetKernelArg)              \
    F(clEnqueueNDRangeKernel)      \
    F(clEnqueueReadBuffer)         \
    F(clEnqueueWriteBuffer)        \
    F(clEnqueueCopyBuffer)         \
    F(clEnqueueReadBufferRect)     \
    F(clEnqueueWriteBufferRect)    \
    F(clEnqueueCopyBufferRect)     \
    F(clEnqueueFillBuffer)         \
    F(clEnqueueCopyBufferToImage)  \
    F(clEnqueueCopyImageToBuffer)  \
    F(clEnqueueReadImage)          \
    F(clEnqueueWriteImage)         \
    F(clEnqueueNativeKernel)       \
    F(clEnqueueMarkerWithWaitList) \
    F(clWaitForEvents)             \
    F(clGetEventInfo)              \
    F(clGetEventProfilingInfo)     \
    F(clSetEventCallback)          \
    F(clCreateUserEvent)           \
    F(clSetUserEventStatus)        \
    F(clRetainEvent)               \
    F(clReleaseEvent)              \
    F(clFlush)                     \
    F(clFinish)                    \
    F(clGetExtensionFunctionAddressForPlatform)
// Functions of OpenCL 2.0: null without it.
#define PARDO_OPENCL_20_FUNCTIONS(F) \
    F(clSVMAlloc)                    \
    F(clSVMFree)                     \
    F(clEnqueueSVMMemcpy)            \
    F(clEnqueueSVMMemFill)           \
    F(clSetKernelArgSVMPointer)
// Functions of OpenCL 2.1: of use only where the device says that it has that version.
#define PARDO_OPENCL_21_FUNCTIONS(F) \
    F(clEnqueueSVMMigrateMem)        \
    F(clCreateProgramWithIL)

/// The functions for the platforms that came the same way.
struct Api {
#define PARDO_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    PARDO_OPENCL_FUNCTIONS(PARDO_OPENCL_MEMBER)
    PARDO_OPENCL_20_FUNCTIONS(PARDO_OPENCL_MEMBER)
    PARDO_OPENCL_21_FUNCTIONS(PARDO_OPENCL_MEMBER)
#undef PARDO_OPENCL_MEMBER
};

/// A platform, and the functions to be called with its objects.
struct FoundPlatform {
    cl_platform_id id;
    const Api* api;
};

struct Found {
    std::vector<FoundPlatform> platforms;
    std::string loader;  // file of the ICD loader; empty without one
    std::string reason;  // why there are no platforms, and what to install
};
/// Looks for platforms: those that the ICD loader announces, those of OCL_ICD_FILENAMES (which some loaders ignore), and without
/// OCL_ICD_VENDORS NVIDIA's and that of the wheel intel-opencl-rt, and if nothing is announced those of other known vendors. Loads
/// libraries, makes no context.
Found find_platforms();
/// What loaders pass over without a word: each .icd file, library of OCL_ICD_FILENAMES and driver of a wheel that cannot be loaded, and
/// why.
std::string broken_drivers();

/// "CL_OUT_OF_RESOURCES (-5)".
std::string error_name(cl_int code);
/// Throws Device, or Memory where the code says so, naming the function.
void check(cl_int code, const char* function);

}  // namespace pardo::opencl
