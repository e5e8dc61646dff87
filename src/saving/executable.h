// src/saving/executable.h: a loaded program on devices of one kind: what runs for which sizes, its kernels, its constants.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "device/device.h"
#include "saved/program.h"

namespace pardo::saving {

/// Safe from any thread: what it has made is guarded by Loaded::mutex().
class Executable {
public:
    explicit Executable(const saved::Loaded& loaded) : loaded(loaded), program(loaded.program()), constants_(program.constants.size()) {
        for (const saved::Code& code : program.codes) names.emplace_back(code.name);
    }
    virtual ~Executable() = default;
    Executable(const Executable&) = delete;

    const saved::Loaded& loaded;
    const saved::Program& program;
    std::vector<Text> names;  // of its kernels

    /// What runs for these sizes, and the programs of its launches in order; null where the range is empty.
    struct Ready {
        saved::Resolved resolved;
        std::vector<Ref<device::Program>> programs;
    };
    /// That of the last calls is kept.
    std::shared_ptr<const Ready> ready(const std::vector<std::int64_t>& sizes);

    Ref<device::Buffer> copy_of_constant(std::size_t number, device::Queue* queue) const;
    /// Memory of a constant that nothing writes; all queues share it.
    Ref<device::Buffer> constant(std::size_t number, device::Queue* queue);

protected:
    /// The program of a launch of these extents.
    virtual Ref<device::Program> made(const saved::Launch& launch, const saved::LoopShape* loops, const std::vector<std::int64_t>& values,
                                      const std::vector<std::int64_t>& extents) = 0;

private:
    static constexpr std::size_t most_recent = 16;
    std::vector<Ref<device::Buffer>> constants_;
    std::vector<std::pair<std::vector<std::int64_t>, std::shared_ptr<const Ready>>> recent_;
};

/// For all processors of this machine. Null where the file has nothing for it.
std::unique_ptr<Executable> for_processors(const saved::Loaded& loaded);
/// For one device that a driver runs. Throws Device, with what the file has, where it has nothing for it.
std::unique_ptr<Executable> for_device(const saved::Loaded& loaded, device::Device* device);
/// The target whose code a device runs. Throws Device as above.
std::string target_for(const saved::Loaded& loaded, device::Device* device);

}  // namespace pardo::saving
