// TextWindow: a text that is read piece by piece, front to back: a file, standard input, or bytes in memory.
//
// What has been dropped is gone; what is in the window stands in one piece, with the padding behind it that simdjson
// reads into. So a dump of any size takes as much memory as its largest object.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprieve {

class TextWindow {
public:
    // Opens a file; "-" is standard input.
    [[nodiscard]] static Result<TextWindow> open(const std::string& path);
    // All at once. REQUIRES: SIMDJSON_PADDING readable bytes, all of them zero, behind `text`, which outlives this.
    explicit TextWindow(std::string_view padded) : data_(padded.data()), size_(padded.size()) {}

    TextWindow(TextWindow&& other) noexcept;
    TextWindow& operator=(TextWindow&&) = delete;
    ~TextWindow();

    [[nodiscard]] std::string_view text() const { return {data_, size_}; }
    // Reads more; false: the text ends where the window ends, or `fault` says why it cannot be read. Moves the text.
    bool grow();
    [[nodiscard]] const std::string& fault() const { return fault_; }

    // Takes bytes off the front.
    void drop(std::size_t count);
    // Where the window starts in the whole text.
    [[nodiscard]] std::size_t offset() const { return offset_; }
    // The line, from 1, of what stands at an offset of the whole text. REQUIRES: it has not been dropped.
    [[nodiscard]] std::size_t line_at(std::size_t offset) const;

private:
    explicit TextWindow(int descriptor) : descriptor_(descriptor) {}
    void make_room();

    const char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t offset_ = 0;
    std::size_t lines_dropped_ = 0;
    int descriptor_ = -1;  // -1: nothing more to read
    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_ = 0;  // padding not counted
    std::string fault_;
};

}  // namespace reprieve
