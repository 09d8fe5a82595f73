/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the tests of the C++ headers share: checks that count, and a context on emulated devices. */
#ifndef TESSERA_TESTS_CHECK_HPP
#define TESSERA_TESTS_CHECK_HPP

#include <cstdio>
#include <string>
#include <tessera.hpp>

/* Checks that failed so far. */
inline int &failures() {
  static int count = 0;
  return count;
}

inline void check(bool holds, const char *what, int line) {
  if (holds) return;
  std::printf("line %d: not so: %s\n", line, what);
  failures()++;
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

/* The call throws an error of the status, whose message has the words. */
template <class Call>
void check_refused(tsr_status status, const std::string &words, int line, Call call) {
  try {
    call();
  } catch (const tessera::error &error) {
    if (error.status() == status && std::string(error.what()).find(words) != std::string::npos)
      return;
    std::printf("line %d: %s: %s, where '%s' was expected\n", line, tsr_status_name(error.status()),
                error.what(), words.c_str());
    failures()++;
    return;
  }
  std::printf("line %d: nothing was thrown, where '%s' was expected\n", line, words.c_str());
  failures()++;
}
#define REFUSED(status, words, ...) check_refused(status, words, __LINE__, [&] { __VA_ARGS__; })

inline tessera::options emulated(int devices = 2) {
  tessera::options options;
  options.engine = "host";
  options.devices = std::to_string(devices);
  options.machine = "host:200 gpu*" + std::to_string(devices) + "@nvswitch:300 pcie:25 rate:1";
  options.check = true;
  return options;
}

/* For main: what the checks said. */
inline int verdict() {
  std::printf("%d checks failed\n", failures());
  return failures() != 0;
}

#endif
