// src/capi/status.cpp: codes of errors, and the last one of each thread.
#include "capi/status.h"

#include <new>
#include <string>

namespace pardo::capi {
namespace {

struct Row {
    pardo_status status;
    ErrorCode code;
};
/// Of several rows with one code or status the first one counts.
constexpr Row rows[] = {
    {PARDO_E_VALUE, ErrorCode::Value},         {PARDO_E_TYPE, ErrorCode::Type},        {PARDO_E_INDEX, ErrorCode::Index},
    {PARDO_E_OVERFLOW, ErrorCode::Overflow},   {PARDO_E_MEMORY, ErrorCode::Memory},    {PARDO_E_BUFFER, ErrorCode::Buffer},
    {PARDO_E_PLACEMENT, ErrorCode::Placement}, {PARDO_E_DEVICE, ErrorCode::Device},    {PARDO_E_COMPILE, ErrorCode::Compile},
    {PARDO_E_IMPORT, ErrorCode::Import},       {PARDO_E_RUNTIME, ErrorCode::Internal}, {PARDO_E_VALUE, ErrorCode::Axis},
    {PARDO_E_VALUE, ErrorCode::Matrix},        {PARDO_E_HANDLE, ErrorCode::Value},     {PARDO_E_NO_DEVICE, ErrorCode::NoDevice},
};

struct Last {
    pardo_status status = PARDO_OK;
    std::string text;
    int depth = 0;  // of work functions
};
thread_local Last last;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

}  // namespace

pardo_status status_of(const Error& error) noexcept {
    if (error.number() != 0) return error.number();
    if (const auto* own = dynamic_cast<const StatusError*>(&error)) return own->status();
    for (const Row& row : rows)
        if (row.code == error.code()) return row.status;
    return PARDO_E_RUNTIME;
}

Error error_of(pardo_status status, std::string text) {
    for (const Row& row : rows)
        if (row.status == status) return {row.code, std::move(text)};
    return Error(ErrorCode::Internal, std::move(text)).set_number(status);
}

pardo_status keep(pardo_status status, const char* text) noexcept {
    last.status = status;
    try {
        last.text = text ? text : "";
    } catch (const std::bad_alloc&) {
        last.text.clear();
    }
    return status;
}

pardo_status take_exception(const char* function) noexcept {
    const auto named = [&](pardo_status status, const char* what) {
        try {
            return keep(status, (std::string(function) + ": " + what).c_str());
        } catch (const std::bad_alloc&) {
            return keep(status, what);
        }
    };
    try {
        throw;
    } catch (const Error& e) {
        return keep(status_of(e), e.what());
    } catch (const std::bad_alloc&) {
        return named(PARDO_E_MEMORY, "out of memory");
    } catch (const std::exception& e) {
        return named(PARDO_E_RUNTIME, e.what());
    } catch (...) {
        return named(PARDO_E_RUNTIME, "an exception that says nothing of itself");
    }
}

pardo_status last_error(const char** text) {
    if (text) *text = last.text.c_str();
    return last.status;
}

void forget_error() noexcept { last.status = PARDO_OK; }
bool has_error() noexcept { return last.status != PARDO_OK; }
Error own_error() { return error_of(last.status, last.text); }

InWork::InWork() noexcept { ++last.depth; }
InWork::~InWork() { --last.depth; }
void InWork::refuse(const char* function) {
    if (last.depth == 0) return;
    throw Error(ErrorCode::Device,
                std::string(function) +
                    ": a work function must not wait: what it waits for may come after it; give the events to submit, in "
                    "its options' `after`");
}

void require(const char* function, const void* pointer, const char* name) {
    if (!pointer) throw Error(ErrorCode::Value, std::string(function) + ": " + name + " is NULL");
}

}  // namespace pardo::capi
