// src/base/text.h: shared strings, which do not change.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace pardo {

/// An immutable string; copies share it, so that they cost no memory.
class Text {
public:
    Text() = default;
    Text(std::string text) : shared_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
    Text(const char* text) : Text(std::string(text)) {}
    Text(std::shared_ptr<const std::string> shared) : shared_(std::move(shared)) {}
    bool empty() const noexcept { return !shared_ || shared_->empty(); }
    const std::string& str() const noexcept { return shared_ ? *shared_ : none(); }
    operator const std::string&() const noexcept { return str(); }

private:
    /// Never destroyed: threads may go on while the process ends.
    static const std::string& none() {
        static const auto& text = *new std::string;
        return text;
    }
    std::shared_ptr<const std::string> shared_;
};

}  // namespace pardo
