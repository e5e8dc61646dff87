// src/device/pending_program.h: programs that are compiled when their first launch has its turn, so that whoever records goes on meanwhile.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "device/program.h"

namespace pardo::device {

/// Stands for a program that is not there yet. The thread that runs its first launch, or hands that to the driver, compiles it.
class PendingProgram final : public Program {
public:
    using Make = std::function<Ref<Program>()>;
    /// `make`: as Device::compile. It takes no lock that is held by a thread which waits for work.
    PendingProgram(std::string name, Make make) : Program(std::move(name), true), make_(std::move(make)) {}
    /// Compiles it, or waits for the thread that does. After a failure it throws the same again, until another launch is submitted: who
    /// waits for the launches that there are, fork() among others, may rely on what get() has said.
    Program* get();
    /// As get(), without throwing.
    void compile() noexcept;
    /// Null before.
    Program* made() const noexcept { return made_.load(std::memory_order_acquire); }

private:
    friend Program* ready_program(Program* program);
    std::mutex mutex_;  // held while it is compiled
    Make make_;
    Ref<Program> program_;
    std::atomic<Program*> made_{nullptr};
    std::exception_ptr failure_;
    std::atomic<bool> failed_{false};
};

/// For a launch that is being submitted: the program itself, or what a PendingProgram has become; null where that is still to be compiled.
Program* ready_program(Program* program);
/// The same, compiled here if need be.
Program* compiled_program(Program* program);

/// While it lives, launches of this thread get a PendingProgram where there is no program in memory.
class CompileLater {
public:
    CompileLater() noexcept;
    ~CompileLater();
    CompileLater(const CompileLater&) = delete;
    /// True while one lives on the calling thread.
    static bool here() noexcept;

private:
    const bool outer_;
};

}  // namespace pardo::device
