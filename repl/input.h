// Inputs of a prompt or a notebook beside programs: `:commands`, lines that go on from the last value, words to complete.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "repl/driver.h"

namespace tercet {

/// The text without spaces around it.
std::string trimmed(std::string_view text);

/// Does the (trimmed) input begin with ':'?
bool is_command(std::string_view input);
/// Runs a command such as ":type x". Returns false when it asks to leave.
bool run_command(Driver& driver, const std::string& input);

/// An input that starts with |> goes on from `ans`.
std::string with_last_value(const std::string& input);

/// What is to be completed where `text` ends: "ar" of "sum(ar", ":he" of ":he"; "" when that is no name.
std::string word_to_complete(std::string_view text);
/// Names, or at the start of an input commands, that begin so; the whole words.
std::vector<std::string> completions_of(const Driver& driver, const std::string& word);

}  // namespace tercet
