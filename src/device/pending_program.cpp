// src/device/pending_program.cpp: programs that are compiled when their first launch has its turn.
#include "device/pending_program.h"

#include <utility>

namespace pardo::device {
namespace {

thread_local bool compile_later = false;

}  // namespace

Program* PendingProgram::get() {
    if (Program* const there = made()) return there;
    const std::lock_guard lock(mutex_);
    if (Program* const there = made()) return there;
    if (failure_) std::rethrow_exception(failure_);
    try {
        program_ = make_();
    } catch (...) {
        failure_ = std::current_exception();
        failed_.store(true, std::memory_order_release);
        throw;
    }
    make_ = nullptr;
    made_.store(program_.get(), std::memory_order_release);
    return program_.get();
}

void PendingProgram::compile() noexcept {
    try {
        (void)get();
    } catch (...) {
        return;  // get() will throw it
    }
}

Program* ready_program(Program* program) {
    if (!program->pending()) return program;
    auto& later = static_cast<PendingProgram&>(*program);
    if (later.failed_.load(std::memory_order_acquire)) {
        const std::lock_guard lock(later.mutex_);
        later.failure_ = nullptr;
        later.failed_.store(false, std::memory_order_relaxed);
    }
    return later.made();
}

Program* compiled_program(Program* program) { return program->pending() ? static_cast<PendingProgram*>(program)->get() : program; }

CompileLater::CompileLater() noexcept : outer_(std::exchange(compile_later, true)) {}

CompileLater::~CompileLater() { compile_later = outer_; }

bool CompileLater::here() noexcept { return compile_later; }

}  // namespace pardo::device
