// src/device/pending_program.h: programs that are compiled when their first launch has its turn, so that whoever records goes on meanwhile.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "device/program.h"

namespace pardo::device {

/// Stands for a program that is not there yet. A thread of the library compiles it ahead of its turn (compile_ahead), or else the thread
/// that runs its first launch, or hands that to the driver.
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
    /// As compile(), unless a thread does that.
    void compile_if_idle() noexcept;
    /// Null before.
    Program* made() const noexcept { return made_.load(std::memory_order_acquire); }

private:
    friend Program* ready_program(Program* program);
    Program* make(std::unique_lock<std::mutex> lock);
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

/// `program`, a PendingProgram, for a launch that is being submitted: threads of the library begin with what has been asked for first.
Ref<PendingProgram> compile_ahead(Program* program);
/// At exit: what these threads have begun ends, and they begin nothing more; from now on nothing is compiled later.
void stop_compiling_ahead();

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
