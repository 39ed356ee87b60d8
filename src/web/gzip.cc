#include "web/gzip.h"

#include <zlib.h>

#include <array>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr int kGzipFormat = 16;  // added to the window bits: gzip instead of zlib
constexpr int kMemoryLevel = 8;
constexpr std::size_t kPiece = std::size_t{64} << 10U;

Bytef* input_of(std::string_view text) {
    // zlib does not write to its input, but says so only with a macro.
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string gzip(std::string_view text) {
    z_stream stream{};
    const int opened =
        deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipFormat, kMemoryLevel, Z_DEFAULT_STRATEGY);
    REPRIEVE_CHECK(opened == Z_OK, "zlib does not start: {}", opened);
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = input_of(text);
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int done = deflate(&stream, Z_FINISH);
    REPRIEVE_CHECK(done == Z_STREAM_END, "zlib does not end: {}", done);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

Result<std::string> gunzip(std::string_view bytes) {
    z_stream stream{};
    if (inflateInit2(&stream, MAX_WBITS + kGzipFormat) != Z_OK) return fail("zlib does not start");
    stream.next_in = input_of(bytes);
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    std::array<char, kPiece> piece{};
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        state = inflate(&stream, Z_NO_FLUSH);
        out.append(piece.data(), piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END) return fail("not a gzip stream");
    return out;
}

}  // namespace reprieve
