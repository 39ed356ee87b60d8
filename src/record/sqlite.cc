#include "record/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace reprieve {
namespace {

constexpr int kBusyMs = 2000;

// The library's words name neither the file nor what the reader can do about it.
std::unexpected<Error> sqlite_fault(const std::string& file, sqlite3* db, int code) {
    switch (code & 0xFF) {
        case SQLITE_NOTADB:
            return fail(fmt::format("{}: is not a record of Reprieve", file));
        case SQLITE_CORRUPT:
            return fail(damage_sentence(file));
        default:
            return fail(fmt::format("{}: {}", file, db ? sqlite3_errmsg(db) : sqlite3_errstr(code)));
    }
}

}  // namespace

std::string damage_sentence(const std::string& file) {
    return fmt::format("{}: is damaged or cut off; only what is left of it can be read", file);
}

Statement::Statement(Statement&& other) noexcept
    : raw_(std::exchange(other.raw_, nullptr)),
      file_(std::move(other.file_)),
      bound_(other.bound_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
    if (this == &other) return *this;
    sqlite3_finalize(raw_);
    raw_ = std::exchange(other.raw_, nullptr);
    file_ = std::move(other.file_);
    bound_ = other.bound_;
    return *this;
}

Statement::~Statement() { sqlite3_finalize(raw_); }

Statement& Statement::bind(std::int64_t value) {
    sqlite3_bind_int64(raw_, ++bound_, value);
    return *this;
}

Statement& Statement::bind(std::string_view text) {
    sqlite3_bind_text64(raw_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
    sqlite3_bind_blob64(raw_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
    return *this;
}

Statement& Statement::bind_null() {
    sqlite3_bind_null(raw_, ++bound_);
    return *this;
}

Statement& Statement::bind_or_null(std::int64_t value, std::int64_t nothing) {
    return value == nothing ? bind_null() : bind(value);
}

Statement& Statement::bind_or_null(std::string_view text) { return text.empty() ? bind_null() : bind(text); }

Result<bool> Statement::step() {
    const int code = sqlite3_step(raw_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        reset();
        return false;
    }
    auto fault = sqlite_fault(file_, sqlite3_db_handle(raw_), code);
    reset();
    return fault;
}

Result<void> Statement::run() {
    const auto row = step();
    if (!row) return std::unexpected(row.error());
    reset();
    return {};
}

void Statement::reset() {
    sqlite3_reset(raw_);
    bound_ = 0;
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(raw_, column); }

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(raw_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(raw_, column));
    return bytes ? std::string(reinterpret_cast<const char*>(bytes), size) : std::string();
}

std::string_view Statement::blob(int column) const {
    const void* bytes = sqlite3_column_blob(raw_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(raw_, column));
    return bytes ? std::string_view(static_cast<const char*>(bytes), size) : std::string_view();
}

bool Statement::is_null(int column) const { return sqlite3_column_type(raw_, column) == SQLITE_NULL; }

Database::Database(Database&& other) noexcept
    : raw_(std::exchange(other.raw_, nullptr)),
      file_(std::move(other.file_)),
      damaged_(other.damaged_) {}

Database& Database::operator=(Database&& other) noexcept {
    if (this == &other) return *this;
    close();
    raw_ = std::exchange(other.raw_, nullptr);
    file_ = std::move(other.file_);
    damaged_ = other.damaged_;
    return *this;
}

Database::~Database() { close(); }

void Database::close() {
    if (raw_) sqlite3_close_v2(std::exchange(raw_, nullptr));
}

Result<Database> Database::open(const std::string& file, Mode mode) {
    Database out;
    out.file_ = file;
    const int flags = mode == Mode::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const auto opened = [&](const std::string& name, int more) {
        const int code = sqlite3_open_v2(name.c_str(), &out.raw_, flags | more | SQLITE_OPEN_NOMUTEX, nullptr);
        // The file itself is looked at only when something is asked.
        return code == SQLITE_OK
                   ? sqlite3_exec(out.raw_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr)
                   : code;
    };
    int code = opened(file, 0);
    if (code == SQLITE_CANTOPEN && mode == Mode::kRead) {
        // In a folder that may not be written a file in WAL mode can be read only as one that nobody changes.
        std::string uri = "file:";
        for (const char c : file)
            uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<unsigned char>(c))
                                                    : std::string(1, c);
        out.close();
        code = opened(uri + "?immutable=1", SQLITE_OPEN_URI);
    }
    if (code == SQLITE_CORRUPT && mode == Mode::kRead) {
        // A file that is shorter than its header says is refused as a whole. Where the schema may be written that
        // check is left out, and every page that is there can be read; nothing is written, the file is open for
        // reading.
        out.damaged_ = true;
        sqlite3_exec(out.raw_, "PRAGMA writable_schema = ON", nullptr, nullptr, nullptr);
        code = sqlite3_exec(out.raw_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
    }
    if (code != SQLITE_OK) return sqlite_fault(file, out.raw_, code);
    sqlite3_busy_timeout(out.raw_, kBusyMs);
    return out;
}

Result<void> Database::run(const std::string& sql) {
    const int code = sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return sqlite_fault(file_, raw_, code);
    return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(raw_, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) return sqlite_fault(file_, raw_, code);
    return Statement(raw, file_);
}

Result<std::int64_t> Database::number(std::string_view sql, std::int64_t otherwise) {
    auto statement = prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    const auto row = statement->step();
    if (!row) return std::unexpected(row.error());
    return *row && !statement->is_null(0) ? statement->number(0) : otherwise;
}

Result<std::string> Database::text(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return std::unexpected(statement.error());
    const auto row = statement->step();
    if (!row) return std::unexpected(row.error());
    return *row ? statement->text(0) : std::string();
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(raw_); }

}  // namespace reprieve
