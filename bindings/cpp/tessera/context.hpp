/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Contexts, and events among their asynchronous calls. */
#ifndef TESSERA_CONTEXT_HPP
#define TESSERA_CONTEXT_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tessera.h>

#include "error.hpp"

namespace tessera {

/* The settings of a new context, as tsr_options has them. A setting that is not given is taken from
 * the environment, else chosen. */
struct options {
  std::optional<std::string> engine = {}, devices = {}, machine = {};
  std::size_t memory = 0;
  std::optional<std::string> budgets = {};
  std::optional<bool> reproducible = {}, check = {};
  bool trace = false;
  std::optional<std::string> arithmetic = {};
};

/* Told how far something has come, from 0 to 1; it must not throw. */
using progress = std::function<void(double fraction, const char *what)>;

class context;
class event;
class plan;
class capture;

namespace detail {

inline tsr_options options_of(const options &o) {
  const auto text = [](const std::optional<std::string> &t) { return t ? t->c_str() : nullptr; };
  const auto choice = [](const std::optional<bool> &b) { return b ? int{*b} : -1; };
  tsr_options result = TSR_OPTIONS_DEFAULT;
  result.engine = text(o.engine);
  result.devices = text(o.devices);
  result.machine = text(o.machine);
  result.memory = o.memory;
  result.budgets = text(o.budgets);
  result.reproducible = choice(o.reproducible);
  result.check = choice(o.check);
  result.trace = o.trace;
  result.arithmetic = text(o.arithmetic);
  return result;
}

/* What the copies of a context share. */
struct context_state {
  context_state() = default;
  context_state(const context_state &) = delete;
  context_state &operator=(const context_state &) = delete;
  ~context_state() {
    tsr_context_destroy(handle);
  }

  tsr_context *handle = nullptr;
  progress told;  // lives where the library's pointer to it stays right
};

extern "C" inline void tessera_hpp_tell(void *user, double fraction, const char *what) noexcept {
  (*static_cast<const progress *>(user))(fraction, what);
}

}  // namespace detail

/* A context. It may be used by several threads at once, each by a copy of its own or by the same
 * one. */
class context {
 public:
  explicit context(const options &options = {})
      : state_(std::make_shared<detail::context_state>()) {
    const tsr_options given = detail::options_of(options);
    detail::check(tsr_context_create(&given, &state_->handle));
  }
  /* Takes over a context of the C interface, for instance that of tsr_context_create_dealt. */
  explicit context(tsr_context *handle) : state_(adopt(handle)) {}

  /* For functions of the C interface. */
  tsr_context *get() const noexcept {
    return state_ ? state_->handle : nullptr;
  }

  void sync() const {
    detail::check(tsr_sync(get()));
  }
  /* As sync, and brings the results of all asynchronous calls to host memory. */
  void sync_home() const {
    detail::check(tsr_sync_home(get()));
  }
  /* As options::arithmetic, for later calls of all threads. One call takes it as its last
   * argument. */
  void set_arithmetic(const std::string &arithmetic) const {
    detail::check(tsr_set_arithmetic(get(), arithmetic.c_str()));
  }
  void trim() const {
    detail::check(tsr_trim(get()));
  }
  int device_count() const noexcept {
    return tsr_device_count(get());
  }
  int device_number(int device) const {
    int number;
    detail::check(tsr_device_number(get(), device, &number));
    return number;
  }
  void set_budget(int device, std::size_t bytes) const {
    detail::check(tsr_set_budget(get(), device, bytes));
  }
  std::size_t budget(int device) const {
    std::size_t bytes;
    detail::check(tsr_get_budget(get(), device, &bytes));
    return bytes;
  }
  /* The stream is a cudaStream_t. */
  void set_stream(int device, void *stream) const {
    detail::check(tsr_set_stream(get(), device, stream));
  }
  /* Not while a call of this context is under way in another thread. An empty one: none. */
  void set_progress(progress told) const {
    detail::check(tsr_set_progress(get(), nullptr, nullptr));
    state_->told = std::move(told);
    if (!state_->told) return;
    detail::check(tsr_set_progress(get(), detail::tessera_hpp_tell, &state_->told));
  }
  tsr_traffic traffic() const {
    tsr_traffic traffic;
    detail::check(tsr_context_traffic(get(), &traffic));
    return traffic;
  }

  void copy(void *to, const void *from, std::size_t bytes) const {
    detail::check(tsr_memcpy(get(), to, from, bytes));
  }
  tsr_home home(const void *pointer, std::size_t bytes) const {
    tsr_home home;
    detail::check(tsr_home_find(get(), pointer, bytes, &home));
    return home;
  }

  void begin_timeline() const {
    detail::check(tsr_timeline_begin(get()));
  }
  void note(const std::string &name, double seconds) const {
    detail::check(tsr_timeline_note(get(), name.c_str(), seconds));
  }
  std::string end_timeline() const {
    return detail::text_of(tsr_timeline_end, get());
  }

  void probe_machine(progress told = {}) const {
    detail::check(tsr_machine_probe(get(), told ? detail::tessera_hpp_tell : nullptr,
                                    told ? &told : nullptr));
  }
  std::string print_machine(tsr_format format = TSR_TEXT) const {
    return detail::text_of(tsr_machine_print, get(), format);
  }

  /* Forgets all copies of all matrices that are on devices. */
  void release() const {
    detail::check(tsr_release(get(), 0, 0, nullptr, 1, TSR_D));
  }

  event record() const;
  plan last_plan() const;
  void begin_capture() const {
    detail::check(tsr_capture_begin(get()));
  }
  capture end_capture() const;

 private:
  static std::shared_ptr<detail::context_state> adopt(tsr_context *handle) {
    std::unique_ptr<tsr_context, void (*)(tsr_context *)> owner(handle, tsr_context_destroy);
    auto state = std::make_shared<detail::context_state>();
    state->handle = owner.release();
    return state;
  }

  std::shared_ptr<detail::context_state> state_;
};

/* A point among the asynchronous calls of a context. */
class event {
 public:
  /* True when all calls before the event are complete. */
  bool query() const {
    int complete;
    detail::check(tsr_event_query(context_.get(), &event_, &complete));
    return complete != 0;
  }
  void wait() const {
    detail::check(tsr_event_wait(context_.get(), &event_));
  }

 private:
  friend class context;
  explicit event(const context &context) : context_(context) {
    detail::check(tsr_event_record(context_.get(), &event_));
  }

  context context_;
  tsr_event event_ = {};
};

inline event context::record() const {
  return event(*this);
}

}  // namespace tessera

#endif
