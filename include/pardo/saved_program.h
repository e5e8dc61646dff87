// include/pardo/saved_program.h: programs that leave the process: a function of arrays as machine code in a file, and what runs it again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/export.h>

namespace pardo {
/// What is exported besides the function.
struct ExportOptions {
    /// "x86-64-v3", "x86-64-v4": machine code for processors; "opencl": texts that a driver compiles; "sm_80", "sm_90", …: machine code for
    /// NVIDIA's GPUs, which takes NVIDIA's run-time compiler. Empty: all processors that this build knows.
    std::vector<std::string> targets;
    std::string name = "program";        ///< what messages begin with
    std::string doc;                     ///< what the file says of the function
    std::vector<std::string> arguments;  ///< their names; empty: x0, x1, …
    /// True: extents of the examples beyond 1 may be any in later calls; those that are equal in the examples stay equal. False: the
    /// program is for the shapes of the examples alone.
    bool any_size = true;
};

/// What a function that is exported gives.
struct Exported {
    std::vector<Array> arrays;  ///< its results
    bool tuple = false;         ///< they come as a tuple, whatever their number
};

/// Runs `function` on stand-ins for the examples, for many sizes, and writes what it does as one file: `path`, whose name gets the digest
/// of the contents in front of its ending. The function must not read values of arrays. Gives the path.
///
/// Throws Value for a function that cannot be exported, with the reason, and for a path that cannot be written.
PARDO_API std::string export_program(const std::function<Exported(ListOf<Array>)>& function, ListOf<Array> examples,
                                     const std::string& path, const ExportOptions& options = {});

/// True of a file that export_program has written.
PARDO_API bool is_saved_program(const std::string& path);

/// A program that has been loaded; a cheap handle, safe from any thread. It runs on the devices of its targets.
class PARDO_API SavedProgram {
public:
    /// Reads and checks a file. Throws Value where it is damaged, of another major version, or for other processors alone.
    static SavedProgram load(const std::string& path);

    /// Runs the program on arrays of one queue, and gives its results there, which are submitted and not waited for.
    ///
    /// Throws Type for another number of arguments and for other dtypes, Value for other shapes than it was exported for, Device where the
    /// file has nothing for the queue's device.
    std::vector<Array> operator()(ListOf<Array> arguments) const;

    const std::string& name() const;  ///< the function's
    const std::string& doc() const;   ///< what the file says of it
    /// "f(x: float32[n, 3]) -> float32".
    std::string signature() const;
    /// "pardo 0.1.0", which exported it.
    const std::string& made_by() const;
    /// What the file has code for.
    std::vector<std::string> targets() const;
    /// The one of them that the processor runs; empty: the file is for other devices.
    const std::string& target() const;
    /// The one of them that a device runs. Throws Device, with those that there are, where it runs none.
    std::string target_on(const Device& device) const;
    std::vector<std::string> arguments() const;  ///< their names
    std::vector<DType> dtypes() const;           ///< of the arguments
    bool tuple() const;                          ///< its results come as a tuple

private:
    struct State;
    explicit SavedProgram(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace pardo
