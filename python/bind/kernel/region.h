// python/bind/kernel/region.h: what calls of a region of Cython's are made of: parameters, loops and what stands for their arguments.
#pragma once

#include <pardo/binding/kernel.h>

#include <cstdint>
#include <string>
#include <vector>

#include "present.h"

namespace bind::region {

using pardo::Array;
using pardo::KernelArgument;

/// Numbers of one dtype in an array: its elements, or what is in one field of its structs.
struct Piece {
    pardo::DType dtype = pardo::DType::Bool;
    std::int64_t offset = 0;  // in an element, in bytes
    Ints shape, strides;      // of the field, if it is an array
};

/// What a call takes: an array, or a number. Numbers that say how many iterations there are belong to the shapes of a call.
struct Parameter {
    int rank = -1;  // -1: a number
    bool counts = false;
    std::string name;
    std::int64_t size = 0;  // of an element
    std::vector<Piece> pieces;

    bool plain() const { return pieces.size() == 1 && pieces[0].shape.empty(); }
};

/// What is copied of an array that is not present.
struct Map {
    bool to = false, from = false, may_be_new = true;
};

/// What stands for an argument of a loop.
struct Source {
    enum class Kind { Constant, Parameter, Result } kind = Kind::Constant;  // the same in all calls; of the region; of a loop before
    std::size_t number = 0;
};

/// A loop of a region.
struct Step {
    nb::object owner;  // of `loop`
    const pardo::Loop* loop = nullptr;
    std::vector<KernelArgument> pattern;  // without the arrays of calls
    std::vector<Source> sources;
    std::vector<pardo::DType> dtypes;
    std::vector<std::size_t> widths;  // how many of the pattern's arguments each given one makes
    std::vector<bool> arrays;         // whether it is an array of the region
    Ints counts, initial;             // `initial`: the arguments that its reductions begin with
    std::int64_t chunk = 0;
};

/// Arguments of all loops, and the arrays in them that share the host's memory: where these are, one a parameter.
struct Arguments {
    std::vector<std::vector<KernelArgument>> of_steps;
    std::vector<std::uintptr_t> addresses;
    std::uint64_t failures = 0;  // of late results, when the addresses were noted
};

/// An argument of one of a region's loops, and which piece of an array it is.
struct LoopArgument {
    std::size_t step = 0, argument = 0, piece = 0;
};

/// What a call ran with, without its arrays and numbers.
struct Kept {
    std::vector<std::int64_t> key;
    std::vector<Step> steps;
    std::vector<std::vector<LoopArgument>> places;  // where each parameter goes
    std::vector<Map> maps;                          // one a parameter
    std::vector<std::size_t> results;               // which ones of the loops' are the region's
    Arguments arguments;                            // they stay; threads that come meanwhile have their own
    std::string name;
    nb::object moved;       // what such a call copies, for reports
    nb::object statements;  // of a region that has some beside its loops: a function of the numbers, which calls run_loop
    bool running = false;
};

/// An array of a call: where it is on the host, and what takes its place.
struct Given {
    const std::int64_t *shape = nullptr, *strides = nullptr;  // in bytes
    std::size_t rank = 0;
    std::uintptr_t address = 0, low = 0, high = 0;
    PresentEntry* entry = nullptr;
    Array array;             // what is made for the call, if it is not present
    std::int64_t place = 0;  // in it, in bytes
    bool whole = true;       // it is the array of the call, and not bytes

    pardo::Extents extents() const { return {shape, rank}; }
    pardo::Extents steps() const { return {strides, rank}; }
    bool overlaps(const Given& other) const { return low < other.high && other.low < high; }
};

inline bool adjacent(const Given& g, std::int64_t step) {
    for (std::size_t d = g.rank; d-- > 0; step *= g.shape[d])
        if (g.shape[d] > 1 && g.strides[d] != step) return false;
    return true;
}

}  // namespace bind::region
