#include "record/blocks.h"

#include <fmt/format.h>
#include <zstd.h>

#include <memory>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr int kLevel = 3;
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

}  // namespace

std::string pack_block(std::string_view text) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> engine(ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(engine.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(engine.get(), ZSTD_c_checksumFlag, 1);
    std::string out(ZSTD_compressBound(text.size()), '\0');
    const std::size_t size = ZSTD_compress2(engine.get(), out.data(), out.size(), text.data(), text.size());
    REPRIEVE_CHECK(ZSTD_isError(size) == 0, "zstd refuses {} bytes", text.size());
    out.resize(size);
    return out;
}

Result<std::string> unpack_block(std::string_view block, std::size_t raw) {
    if (raw > kMostBytes) return fail(fmt::format("a block claims to hold {} bytes", raw));
    std::string out(raw, '\0');
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), block.data(), block.size());
    if (ZSTD_isError(size) != 0) return fail(fmt::format("a block is damaged ({})", ZSTD_getErrorName(size)));
    if (size != raw) return fail(fmt::format("a block holds {} bytes and claims to hold {}", size, raw));
    return out;
}

}  // namespace reprieve
