/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What functions throw. */
#ifndef TESSERA_ERROR_HPP
#define TESSERA_ERROR_HPP

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <tessera.h>

namespace tessera {

/* What a function throws. what() is the message, which names the argument, its value and the
 * remedy. */
class error : public std::runtime_error {
 public:
  error(tsr_status status, const std::string &message)
      : std::runtime_error(message), status_(status) {}
  tsr_status status() const noexcept {
    return status_;
  }

 private:
  tsr_status status_;
};

namespace detail {

inline void check(tsr_status status) {
  if (status != TSR_OK) throw error(status, tsr_message());
}

[[noreturn]] inline void refuse(const std::string &message) {
  throw error(TSR_ERR_ARGUMENT, message);
}

/* The text that a function of the library writes to its last argument; the library's own is freed.
 */
template <class... Parameters, class... Arguments>
std::string text_of(tsr_status (*function)(Parameters...), Arguments... arguments) {
  char *text;
  check(function(arguments..., &text));
  std::unique_ptr<char, void (*)(void *)> owner(text, std::free);
  return std::string(text);
}

}  // namespace detail

/* The version of the library that is loaded, for instance "0.2.0". */
inline std::string version() {
  return tsr_version();
}

/* The same as a number, to compare with TSR_VERSION_NUMBER: 10000 major + 100 minor + patch. */
inline int version_number() {
  return tsr_version_number();
}

}  // namespace tessera

#endif
