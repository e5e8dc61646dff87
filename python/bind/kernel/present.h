// python/bind/kernel/present.h: memory of the host that devices have (pardo.data): the tables of pardo._data.tables, looked up by address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/binding/kernel.h>

#include "bind.h"
#include "late_results.h"

namespace bind {

/// Base class of the entries in Python. A thread that holds the GIL may read and write it.
struct PresentEntry {
    std::uintptr_t begin = 0, end = 0;
    std::optional<pardo::Array> image;  // its bytes on the device, if they are adjacent there and here
    bool ready = true;                  // no copies are under way, and none has failed
    bool broken = false;                // work that writes it has failed
    std::int64_t count = 1;             // of mappings
    struct Part {
        std::int64_t place = 0;
        pardo::DType dtype{};
        Ints shape, strides;
        pardo::Array array;
    };
    std::vector<Part> parts;  // the latest ones that regions took

    /// An array of a part of the image, from a place on, with strides in bytes.
    const pardo::Array& part(pardo::DType dtype, pardo::Extents shape, pardo::Extents strides, std::int64_t place);
};

/// Base class of the tables in Python, which live as long as the process.
struct PresentTable {
    pardo::Queue queue;
    bool shares = false;  // kernels use memory of the host in place
    nb::object entries;   // a tuple, in the order of addresses
    int held = 0;         // Python's lock: counts are being looked at, and changed after that
    std::vector<PresentEntry*> sorted;

    /// The first entry that ends behind an address; null if there is none.
    PresentEntry* from(std::uintptr_t begin) const;
    /// The entry that holds a range; null if there is none.
    PresentEntry* at(std::uintptr_t begin, std::uintptr_t end) const;
};

/// ContextVar.get and ContextVar.set of the blocks that a task is in, each a tuple that begins with its table and its owner.
struct Blocks {
    PyObject *get = nullptr, *set = nullptr;
};
extern Blocks blocks;

/// The table of a device; null before there is one.
PresentTable* present_table(const pardo::Device& device);
/// The table of the innermost block that this thread or task is in, and what results wait for there; null if there is none.
PresentTable* table_of_block(LateResults** late);
/// Whether the environment may make kernels run as plain Python (launcher.cpp).
bool may_be_plain_python();
/// Whether the variable PARDO_OFFLOAD says that regions run on the host; nothing where that is for the package to tell.
std::optional<bool> offload_is_off();
/// A tuple's values as arguments of a launch (kernel.cpp); `names`: of the parameters; `constants`: as for `launch`.
std::vector<pardo::KernelArgument> kernel_arguments(nb::handle list, const char* op_name, std::span<const std::string> names,
                                                    std::uint64_t constants = 0);
/// What a loop has given, as Python has it (kernel.cpp).
nb::list loop_results(const std::vector<pardo::KernelArgument>& results);
/// The same where it takes the place of the loop: one value itself, or a tuple.
nb::object loop_result(const std::vector<pardo::KernelArgument>& results);

}  // namespace bind
