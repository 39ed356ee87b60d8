#include "manifest/text_window.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "manifest/text_scan.h"

namespace reprieve {
namespace {

constexpr std::size_t kSmallest = std::size_t{1} << 20U;
constexpr std::size_t kBlock = std::size_t{1} << 18U;

}  // namespace

Result<TextWindow> TextWindow::open(const std::string& path) {
    const int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(fmt::format("cannot open: {}", std::strerror(errno)));
    TextWindow window(descriptor);
    struct stat status{};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) return fail("cannot read: it is a directory");
    window.grow();
    if (!window.fault_.empty()) return fail(window.fault_);
    return window;
}

TextWindow::TextWindow(TextWindow&& other) noexcept
    : data_(other.data_),
      size_(std::exchange(other.size_, 0)),
      offset_(other.offset_),
      lines_dropped_(other.lines_dropped_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      capacity_(other.capacity_),
      fault_(std::move(other.fault_)) {}

TextWindow::~TextWindow() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

// Room for a block behind the text: by moving the text to the front, else in a larger buffer.
void TextWindow::make_room() {
    if (buffer_ != nullptr && size_ + kBlock <= capacity_) {
        std::memmove(buffer_.get(), data_, size_);
    } else {
        const std::size_t larger = std::max(kSmallest, capacity_ * 2);
        auto buffer = std::make_unique_for_overwrite<char[]>(larger + simdjson::SIMDJSON_PADDING);
        if (size_ > 0) std::memcpy(buffer.get(), data_, size_);
        buffer_ = std::move(buffer);
        capacity_ = larger;
    }
    data_ = buffer_.get();
}

bool TextWindow::grow() {
    if (descriptor_ < 0) return false;
    try {
        const std::size_t used = buffer_ != nullptr ? static_cast<std::size_t>(data_ - buffer_.get()) + size_ : 0;
        if (used + kBlock > capacity_) make_room();
    } catch (const std::bad_alloc&) {
        fault_ = "cannot read: not enough memory";
        return false;
    }
    char* end = buffer_.get() + (data_ - buffer_.get()) + size_;
    ssize_t got = 0;
    do {
        got = ::read(descriptor_, end, kBlock);
    } while (got < 0 && errno == EINTR);
    if (got < 0) fault_ = fmt::format("cannot read: {}", std::strerror(errno));
    if (got <= 0) {
        if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
        descriptor_ = -1;
        return false;
    }
    size_ += static_cast<std::size_t>(got);
    std::memset(end + got, 0, simdjson::SIMDJSON_PADDING);
    return true;
}

void TextWindow::drop(std::size_t count) {
    REPRIEVE_CHECK(count <= size_);
    lines_dropped_ += count_lines(data_, count);
    data_ += count;
    size_ -= count;
    offset_ += count;
}

std::size_t TextWindow::line_at(std::size_t offset) const {
    REPRIEVE_CHECK(offset >= offset_);
    return lines_dropped_ + count_lines(data_, std::min(offset - offset_, size_)) + 1;
}

}  // namespace reprieve
