// src/backend/opencl/loader.cpp: finds the ICD loader and vendors' libraries.
#include "backend/opencl/loader.h"

#include <CL/cl_icd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <pardo/error.h>

#include "base/env.h"

namespace pardo::opencl {
namespace {

constexpr const char* remedy =
    "run pip install pardo[opencl], which brings Intel's for processors, or install ocl-icd-libopencl1 and a driver such as "
    "pocl-opencl-icd; NVIDIA's OpenCL comes with its driver";
constexpr const char* intel_library = "libintelocl.so";
constexpr const char* intel_platform = "Intel(R) OpenCL";
/// Vendors' own libraries, for machines on which no .icd file names them.
constexpr const char* vendor_libraries[] = {intel_library, "libpocl.so.2", "libamdocl64.so", "libigdrcl.so"};
constexpr const char* nvidia_library = "libnvidia-opencl.so.1";

struct ErrorName {
    cl_int code;
    const char* name;
};
constexpr ErrorName error_names[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-30, "CL_INVALID_VALUE"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
    {-40, "CL_INVALID_IMAGE_SIZE"},
    {-41, "CL_INVALID_SAMPLER"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

/// Functions by name of a library; false when one that every implementation has is missing.
bool fill(Api& api, const DynamicLibrary& library) {
    bool whole = true;
#define PARDO_OPENCL_LOAD(name) whole &= library.bind(api.name, #name);
    PARDO_OPENCL_FUNCTIONS(PARDO_OPENCL_LOAD)
#undef PARDO_OPENCL_LOAD
#define PARDO_OPENCL_LOAD(name) library.bind(api.name, #name);
    PARDO_OPENCL_20_FUNCTIONS(PARDO_OPENCL_LOAD)
    PARDO_OPENCL_21_FUNCTIONS(PARDO_OPENCL_LOAD)
#undef PARDO_OPENCL_LOAD
    return whole;
}

/// Functions of a platform's own table, which every ICD keeps at the beginning of its objects.
bool fill(Api& api, cl_platform_id platform) {
    const cl_icd_dispatch* table = *reinterpret_cast<cl_icd_dispatch* const*>(platform);
    if (!table) return false;
#define PARDO_OPENCL_LOAD(name) api.name = reinterpret_cast<decltype(api.name)>(table->name);
    PARDO_OPENCL_FUNCTIONS(PARDO_OPENCL_LOAD)
    PARDO_OPENCL_20_FUNCTIONS(PARDO_OPENCL_LOAD)
    PARDO_OPENCL_21_FUNCTIONS(PARDO_OPENCL_LOAD)
#undef PARDO_OPENCL_LOAD
    return api.clGetDeviceIDs && api.clCreateContext;
}

using GetPlatforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);

std::vector<cl_platform_id> platforms_by(GetPlatforms get) {
    cl_uint count = 0;
    if (!get || get(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
    std::vector<cl_platform_id> ids(count);
    if (get(count, ids.data(), nullptr) != CL_SUCCESS) ids.clear();
    return ids;
}

/// The platforms of a vendor's library that are not known yet. The library is its own loader.
void add_vendor(const std::string& file, Found& found) {
    std::string error;
    const DynamicLibrary library = DynamicLibrary::open({file}, &error);
    if (!library) return;
    GetPlatforms get = nullptr;
    void* (*address_of)(const char*) = nullptr;
    if (!library.bind(get, "clIcdGetPlatformIDsKHR") && library.bind(address_of, "clGetExtensionFunctionAddress"))
        get = reinterpret_cast<GetPlatforms>(address_of("clIcdGetPlatformIDsKHR"));
    for (cl_platform_id id : platforms_by(get)) {
        const auto same = [id](const FoundPlatform& p) { return p.id == id; };
        if (std::any_of(found.platforms.begin(), found.platforms.end(), same)) continue;
        auto api = std::make_unique<Api>();
        if (!fill(*api, id)) continue;
        log(LogLevel::Info, "opencl: a platform of " + library.path() + ", which no loader announced");
        found.platforms.push_back({id, api.release()});  // lives as long as the process
    }
}

std::vector<std::string> listed(const std::string& paths) {
    std::vector<std::string> out;
    for (std::size_t start = 0; start <= paths.size();) {
        const std::size_t end = std::min(paths.find(':', start), paths.size());
        if (end > start) out.push_back(paths.substr(start, end - start));
        start = end + 1;
    }
    return out;
}

/// The .icd files of OCL_ICD_VENDORS, which names a folder or one of them.
std::vector<std::filesystem::path> icd_files() {
    const std::filesystem::path place = env("OCL_ICD_VENDORS").value_or("/etc/OpenCL/vendors");
    std::error_code none;
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_regular_file(place, none)) files.push_back(place);
    for (std::filesystem::directory_iterator at(place, none), end; !none && at != end; at.increment(none)) {
        if (at->path().extension() == ".icd") files.push_back(at->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// The library that an .icd file names; empty if none.
std::string named_library(const std::filesystem::path& file) {
    std::string library;
    std::getline(std::ifstream(file), library);
    while (!library.empty() && (library.back() == '\r' || library.back() == ' ')) library.pop_back();
    return library;
}

/// The first driver that the loader is told to load and would take from the current folder, because it is nowhere else; empty if none.
/// Those that are elsewhere too are loaded here, and the loader finds them loaded.
std::string driver_in_current_folder() {
    for (const auto& file : icd_files()) {
        const std::string library = named_library(file);
        std::string error;
        if (in_current_folder(library) && !DynamicLibrary::open({library}, &error)) return library;
    }
    return {};
}

/// Intel's runtime where pip put it: next to the folder of Python's packages; the .icd file of its wheel names no place that exists.
std::vector<std::string> drivers_of_wheels() {
    std::vector<std::string> files;
    for (const std::string& packages : package_folders()) {
        const std::filesystem::path file = std::filesystem::path(packages).parent_path().parent_path() / intel_library;
        std::error_code none;
        if (std::filesystem::exists(file, none)) files.push_back(file.string());
    }
    return files;
}

bool announced(const Found& found, std::string_view name) {
    for (const FoundPlatform& p : found.platforms) {
        char text[256] = {};
        if (p.api->clGetPlatformInfo(p.id, CL_PLATFORM_NAME, sizeof text - 1, text, nullptr) == CL_SUCCESS && name == text) return true;
    }
    return false;
}

std::string joined(const std::vector<std::string>& list) {
    std::string text;
    for (const std::string& part : list) text.append(text.empty() ? "" : "; ").append(part);
    return text;
}

}  // namespace

Found find_platforms() {
    Found found;
    std::string error;
    DynamicLibrary library;
    if (const std::string driver = driver_in_current_folder(); !driver.empty())
        error = "not asked, because it would load " + driver + " from the current folder, to which an entry of LD_LIBRARY_PATH leads";
    else
        library = DynamicLibrary::open({"libOpenCL.so.1", "libOpenCL.so"}, &error);
    if (library) {
        auto api = std::make_unique<Api>();
        if (fill(*api, library)) {
            found.loader = library.path();
            GetPlatforms get = nullptr;
            library.bind(get, "clGetPlatformIDs");
            for (cl_platform_id id : platforms_by(get)) found.platforms.push_back({id, api.get()});
            (void)api.release();  // lives as long as the process
        } else {
            error = library.path() + " is too old: it lacks functions of OpenCL 1.2";
        }
    }
    for (const std::string& file : listed(env("OCL_ICD_FILENAMES").value_or(""))) add_vendor(file, found);
    const bool chosen = env("OCL_ICD_VENDORS").has_value();  // a named folder means those drivers and no others
    if (!chosen) {
        add_vendor(nvidia_library, found);
        for (const std::string& file : drivers_of_wheels()) {
            if (!announced(found, intel_platform)) add_vendor(file, found);
        }
    }
    if (!chosen && found.platforms.empty()) {
        for (const char* file : vendor_libraries) add_vendor(file, found);
    }
    const bool none = found.platforms.empty();
    const std::string bad = none || log_level() >= LogLevel::Info ? broken_drivers() : std::string();
    if (!none) {
        if (!bad.empty()) log(LogLevel::Info, "opencl: " + bad);
        return found;
    }
    found.reason = found.loader.empty() ? "no OpenCL loader (libOpenCL.so.1) found (" + error + ")"
                                        : "the OpenCL loader " + found.loader + " announces no platform";
    if (chosen) found.reason += " of OCL_ICD_VENDORS=" + *env("OCL_ICD_VENDORS");
    if (!bad.empty()) found.reason += ": " + bad;
    found.reason += chosen ? "; " : ", and no vendor's library is there either; ";
    found.reason += remedy;
    return found;
}

std::string broken_drivers() {
    std::vector<std::string> broken;
    const auto check = [&broken](const std::string& before, const std::string& library, const char* between, const char* after) {
        std::string error;
        if (!DynamicLibrary::open({library}, &error)) broken.push_back(before + library + between + error + after);
    };
    for (const auto& file : icd_files()) {
        const std::string library = named_library(file);
        if (library.empty())
            broken.push_back(file.string() + " names no library");
        else
            check(file.string() + " names ", library, ", which cannot be loaded (", ")");
    }
    for (const std::string& library : listed(env("OCL_ICD_FILENAMES").value_or("")))
        check("OCL_ICD_FILENAMES names ", library, ", which cannot be loaded (", ")");
    if (env("OCL_ICD_VENDORS")) return joined(broken);
    for (const std::string& library : drivers_of_wheels())
        check("", library, " of the package intel-opencl-rt cannot be loaded (", "); pip install pardo[opencl] brings all that it needs");
    return joined(broken);
}

std::string error_name(cl_int code) {
    const auto at = std::find_if(std::begin(error_names), std::end(error_names), [code](const ErrorName& e) { return e.code == code; });
    return std::string(at == std::end(error_names) ? "OpenCL error" : at->name) + " (" + std::to_string(code) + ")";
}

void check(cl_int code, const char* function) {
    if (code == CL_SUCCESS) return;
    const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES;
    throw Error(memory ? ErrorCode::Memory : ErrorCode::Device, std::string(function) + " says " + error_name(code));
}

}  // namespace pardo::opencl
