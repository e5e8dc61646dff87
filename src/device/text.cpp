// src/device/text.cpp: launches of kernels that the user wrote as text.
#include "device/text.h"

#include <algorithm>
#include <memory>

#include "device/queue/queue.h"

namespace pardo::device {

bool is_spirv(std::string_view text) {
    constexpr std::string_view little("\x03\x02\x23\x07", 4), big("\x07\x23\x02\x03", 4);
    return text.starts_with(little) || text.starts_with(big);
}

bool is_whole_spirv(std::string_view module) {
    constexpr std::size_t header = 5;
    if (module.size() % 4 != 0 || module.size() <= header * 4) return false;
    const bool little = module[0] == '\x03';
    // An instruction's first word has the number of its words in the upper half.
    const auto length = [&](std::size_t word) {
        const auto byte = [&](std::size_t k) { return static_cast<std::size_t>(static_cast<unsigned char>(module[word * 4 + k])); };
        return little ? byte(2) | byte(3) << 8U : byte(1) | byte(0) << 8U;
    };
    std::size_t at = header;
    const std::size_t words = module.size() / 4;
    while (at < words) {
        if (length(at) == 0) return false;
        at += length(at);
    }
    return at == words;
}

namespace {
constexpr std::string_view first_line = "pardo program 1\n";
}

std::string packed_for_user(const ProgramBinary& binary) { return std::string(first_line) + std::string(binary.begin(), binary.end()); }

bool is_packed(const ProgramBinary& given) {
    return given.size() > first_line.size() && std::equal(first_line.begin(), first_line.end(), given.begin());
}

ProgramBinary unpacked(const ProgramBinary& given) { return {given.begin() + static_cast<std::ptrdiff_t>(first_line.size()), given.end()}; }

bool ProgramText::self_contained() const {
    if (is_spirv(text)) return true;
    const auto includes = [](const std::string& s) { return s.find("include") != std::string::npos; };
    return !includes(text) && std::none_of(options.begin(), options.end(), includes) &&
           std::none_of(others.begin(), others.end(), includes);
}

std::string ProgramText::whole() const {
    std::string out;
    const auto add = [&](const std::string& part) { out += std::to_string(part.size()) + ' ' + part; };
    for (const std::string& other : others) add(other);
    for (const auto& [name, header] : headers) {
        add(name);
        add(header);
    }
    return out + "\n" + text;
}

Event TextProgram::launch(Queue* queue, std::size_t kernel, TextLaunch launch, std::span<const BufferUse> uses,
                          std::span<const Event> depends) {
    const auto kept = std::make_shared<const TextLaunch>(std::move(launch));
    // Devices that compile text have queues of a driver.
    return static_cast<DriverQueue*>(queue)->submit_native(
        [self = Ref<TextProgram>(this), kernel, kept](Stream& stream, const NativeOrder& order) {
            self->enqueue(stream, kernel, *kept, order);
        },
        uses, {kernels_[kernel].name, {}}, depends);
}

}  // namespace pardo::device
