// Database and Statement: SQLite with the house's errors. A handle is used by one thread at a time.
//
// Binding never fails for our types; whatever else goes wrong is told by `step` or `run`, with SQLite's own words and
// the name of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace reprieve {

// What is said of a file of which pages or blocks are broken or gone.
[[nodiscard]] std::string damage_sentence(const std::string& file);

class Statement {
public:
    Statement() = default;
    Statement(sqlite3_stmt* raw, std::string file) : raw_(raw), file_(std::move(file)) {}
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&& other) noexcept;
    ~Statement();

    // Arguments in the order of the question marks.
    Statement& bind(std::int64_t value);
    Statement& bind(std::string_view text);
    Statement& bind_blob(std::string_view bytes);
    Statement& bind_null();
    // Null where the value is the one that means nothing.
    Statement& bind_or_null(std::int64_t value, std::int64_t nothing = 0);
    Statement& bind_or_null(std::string_view text);

    // True: there is a row. After the last row, and after an error, the statement is ready to be bound again.
    [[nodiscard]] Result<bool> step();
    // A statement without rows.
    [[nodiscard]] Result<void> run();
    // Gives up the rows that are left.
    void reset();

    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] std::string text(int column) const;
    // Good until the next step.
    [[nodiscard]] std::string_view blob(int column) const;
    [[nodiscard]] bool is_null(int column) const;

private:
    sqlite3_stmt* raw_ = nullptr;
    std::string file_;
    int bound_ = 0;
};

class Database {
public:
    enum class Mode : std::uint8_t { kCreate, kRead };

    [[nodiscard]] static Result<Database> open(const std::string& file, Mode mode);
    Database() = default;
    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) noexcept;
    ~Database();

    // One or several statements without arguments.
    [[nodiscard]] Result<void> run(const std::string& sql);
    [[nodiscard]] Result<Statement> prepare(std::string_view sql);
    // The single number that a query gives; `otherwise` where it gives none, or null.
    [[nodiscard]] Result<std::int64_t> number(std::string_view sql, std::int64_t otherwise = 0);
    [[nodiscard]] Result<std::string> text(std::string_view sql);
    [[nodiscard]] std::int64_t last_row() const;
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] bool is_open() const { return raw_ != nullptr; }
    // Opened for reading although a part of the file is missing: any query may fail after some of its rows.
    [[nodiscard]] bool is_damaged() const { return damaged_; }
    void close();

private:
    sqlite3* raw_ = nullptr;
    std::string file_;
    bool damaged_ = false;
};

}  // namespace reprieve
