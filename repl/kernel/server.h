// The sockets of the kernel: those of xeus, cells on the main thread and the control channel on one of its own.
//
// Two things are done here because xeus 2.4 has no place for them: interrupts reach the interpreter, and cells that are dropped
// after one has failed are told of as the protocol has it ("aborted", with their own busy and idle), without which notebooks show
// them as running for ever.
#pragma once
#include <functional>
#include <memory>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_shell_main.hpp>

namespace tercet {

class KernelServer final : public xeus::xserver_shell_main {
 public:
  using xserver_shell_main::xserver_shell_main;
  /// Called on the control channel's thread. To be set before the server starts.
  std::function<void()> on_interrupt;

 private:
  void send_control_impl(xeus::xmessage reply) override;
  void send_shell_impl(xeus::xmessage reply) override;
  /// The connection file names all ports. (xeus would ask the sockets, and fails where a path is longer than 31 bytes.)
  void update_config_impl(xeus::xconfiguration&) const override {}
  void abort_queue_impl(const listener& abort, long pause) override;
  void publish_status(const xeus::xmessage& reply, const char* status);

  bool aborting_ = false;
};

std::unique_ptr<xeus::xserver> make_kernel_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                                  nl::json::error_handler_t on_bad_text);

}  // namespace tercet
