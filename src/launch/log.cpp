// src/launch/log.cpp: reads a kernel's log on the host, after the kernel, and hands its lines to the printer.
#include "launch/log.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <tuple>

#include <pardo/kernel.h>

#include "ir/eval.h"

namespace pardo {
namespace {

/// Never freed: a kernel may end while another printer is set.
std::atomic<const Printer*> printer = nullptr;

}  // namespace

void set_printer(Printer given) { printer = new Printer(std::move(given)); }

namespace launch {
namespace {

using Words = std::vector<std::int64_t>;

/// The values of a print, from its words on.
std::vector<KernelArgument> values_of(const lang::Print& print, const std::int64_t* words, bool fp64) {
    const auto real = [&](std::int64_t word) {
        return fp64 ? std::bit_cast<double>(word) : static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(word)));
    };
    std::vector<KernelArgument> out;
    for (const lang::ArgumentType& type : print.layout) {
        KernelArgument& a = out.emplace_back();
        if (type.kind == lang::ArgumentType::Kind::Tuple) {
            a.kind = KernelArgument::Kind::Tuple;
            a.parts = type.parts;
            a.names = type.names;
            continue;
        }
        if (is_complex(type.dtype)) {
            a.scalar = Scalar(std::complex<double>(real(words[0]), real(words[1])));
            ++words;
        } else if (is_float(type.dtype)) {
            a.scalar = Scalar(real(*words));
        } else {
            a.scalar = Scalar(*words);
        }
        ++words;
        a.scalar = a.scalar.cast(type.dtype);
        a.scalar.weak = type.weak;
    }
    return out;
}

void print_all(const Words& log, const std::vector<lang::Print>& prints, bool fp64, const std::string& name) {
    const auto words_of = [](const lang::Print& p) {
        std::int64_t words = 2;
        for (const lang::ArgumentType& type : p.layout)
            words += type.kind == lang::ArgumentType::Kind::Tuple ? 0 : is_complex(type.dtype) ? 2 : 1;
        return words;
    };
    const std::int64_t room = lang::Lowered::log_words - 1;
    struct Entry {
        std::int64_t item, at;
    };
    std::vector<Entry> entries;
    std::int64_t at = 1;
    while (at - 1 < std::min(log[0], room)) {
        const auto site = static_cast<std::size_t>(log[static_cast<std::size_t>(at)]);
        if (site == 0 || site > prints.size()) break;  // behind the last that had room
        entries.push_back({log[static_cast<std::size_t>(at + 1)], at});
        at += words_of(prints[site - 1]);
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::tie(a.item, a.at) < std::tie(b.item, b.at); });
    const Printer* print_line = printer;
    if (!print_line) return;
    for (const Entry& e : entries) {
        const std::int64_t* words = log.data() + e.at;
        const lang::Print& print = prints[static_cast<std::size_t>(words[0] - 1)];
        (*print_line)(print.format, values_of(print, words + 2, fp64));
    }
    if (log[0] > at - 1) (*print_line)("[" + name + ": more was printed than there is room for, and is lost]\n", {});
}

}  // namespace

device::Buffer* Log::make(device::Queue* queue) {
    const std::size_t bytes = lang::Lowered::log_words * sizeof(std::int64_t);
    buffer_ = queue->device()->obtain(bytes, MemoryKind::Device, queue);
    const std::int64_t zero = 0;
    (void)queue->fill(buffer_.get(), 0, bytes, &zero, sizeof zero);
    return buffer_.get();
}

Event Log::print(device::Queue* queue, const Event& launched, const std::vector<lang::Print>& prints,
                 std::span<const device::BufferUse> uses, const std::string& name) {
    const bool fp64 = queue->device()->supports(DType::Float64);
    const Event depends[] = {launched};
    if (!buffer_->host_visible()) {  // here the host waits: reading takes a copy
        Words words(lang::Lowered::log_words);
        queue->read(words.data(), buffer_.get(), 0, words.size() * sizeof(std::int64_t));
        print_all(words, prints, fp64, name);
        return launched;
    }
    std::vector<device::BufferUse> after;
    for (const device::BufferUse& use : uses)
        if (use.access != device::Access::Read) after.push_back({use.buffer, device::Access::ReadWrite});
    return queue->host_task(
        [buffer = buffer_, prints, fp64, name] {
            Words words(lang::Lowered::log_words);
            std::memcpy(words.data(), buffer->data(), words.size() * sizeof(std::int64_t));
            print_all(words, prints, fp64, name);
        },
        after, {name, {}}, 50, depends);
}

}  // namespace launch
}  // namespace pardo
