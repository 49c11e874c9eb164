//! Defects of channels and of clients that come back.

use super::Fault;
use crate::policy::{
    AcceptOrder, AddressAfterClose, BindOrder, ChannelChoices, ChildLoop, CloseOrder, ConnectOrder, DropChoice,
    EndOfStream, Growth, Guard, HalfClosure, HandlerGroup, OnStop, ParentClose, Policy, ReadComplete,
    ReconnectChoices, ResetChoice, RetryOn, Spread, TailException, WriteAfterClose,
};

pub(super) const INACTIVE_BEFORE_FUTURE: Fault = Fault {
    name: "inactive-before-future",
    about: "handlers hear of a close before its futures are done",
    apply: |p| Policy {
        channels: ChannelChoices { close_order: CloseOrder::InactiveThenFuture, ..p.channels },
        ..p
    },
};

pub(super) const ACTIVE_BEFORE_FUTURE: Fault = Fault {
    name: "active-before-future",
    about: "a client's handlers hear that it is connected before the connect's future is done",
    apply: |p| Policy {
        channels: ChannelChoices { connect_order: ConnectOrder::ActiveThenFuture, ..p.channels },
        ..p
    },
};

pub(super) const BIND_BEFORE_REGISTER: Fault = Fault {
    name: "bind-before-register",
    about: "a listening channel is registered after it is bound",
    apply: |p| Policy { channels: ChannelChoices { bind_order: BindOrder::BindThenRegister, ..p.channels }, ..p },
};

pub(super) const REGISTER_BEFORE_PARENT: Fault = Fault {
    name: "register-before-parent",
    about: "an accepted channel has a loop before its parent's handlers see it",
    apply: |p| Policy {
        channels: ChannelChoices { accept_order: AcceptOrder::RegisterThenParent, ..p.channels },
        ..p
    },
};

pub(super) const CHILD_ON_BOSS: Fault = Fault {
    name: "child-on-boss",
    about: "accepted channels live on the boss's loop",
    apply: |p| Policy { channels: ChannelChoices { child_loop: ChildLoop::Boss, ..p.channels }, ..p },
};

pub(super) const GROUP_IGNORED: Fault = Fault {
    name: "group-ignored",
    about: "a handler's executor group is ignored: it runs on the loop",
    apply: |p| Policy { channels: ChannelChoices { handler_group: HandlerGroup::Ignored, ..p.channels }, ..p },
};

pub(super) const GROUP_FIRST_ONLY: Fault = Fault {
    name: "group-first-only",
    about: "every channel gets the first thread of a handler's executor group",
    apply: |p| Policy { channels: ChannelChoices { handler_group: HandlerGroup::FirstOnly, ..p.channels }, ..p },
};

pub(super) const ADDRESS_FORGOTTEN: Fault = Fault {
    name: "address-forgotten",
    about: "a closed channel doesn't know its peer's address",
    apply: |p| Policy {
        channels: ChannelChoices { address_after_close: AddressAfterClose::Forgotten, ..p.channels },
        ..p
    },
};

pub(super) const HALF_CLOSURE_IGNORED: Fault = Fault {
    name: "half-closure-ignored",
    about: "the peer's end closes a channel that allows half closure",
    apply: |p| Policy { channels: ChannelChoices { half_closure: HalfClosure::Never, ..p.channels }, ..p },
};

pub(super) const NO_READ_COMPLETE: Fault = Fault {
    name: "no-read-complete",
    about: "the end of a batch of reads is not told",
    apply: |p| Policy { channels: ChannelChoices { read_complete: ReadComplete::Never, ..p.channels }, ..p },
};

pub(super) const SILENT_END_OF_STREAM: Fault = Fault {
    name: "silent-end-of-stream",
    about: "the end of a stream brings no read-complete",
    apply: |p| Policy { channels: ChannelChoices { end_of_stream: EndOfStream::Nothing, ..p.channels }, ..p },
};

pub(super) const WRITE_VANISHES: Fault = Fault {
    name: "write-vanishes",
    about: "the future of a write after close is never done",
    apply: |p| Policy {
        channels: ChannelChoices { write_after_close: WriteAfterClose::Vanishes, ..p.channels },
        ..p
    },
};

pub(super) const ERROR_CLOSES: Fault = Fault {
    name: "error-closes",
    about: "an error that no handler takes closes the connection",
    apply: |p| Policy { channels: ChannelChoices { tail_exception: TailException::Closes, ..p.channels }, ..p },
};

pub(super) const PARENT_CLOSES_CHILDREN: Fault = Fault {
    name: "parent-closes-children",
    about: "closing a listening channel closes what it accepted",
    apply: |p| Policy {
        channels: ChannelChoices { parent_close: ParentClose::ClosesChildren, ..p.channels },
        ..p
    },
};

pub(super) const CONSTANT_BACKOFF: Fault = Fault {
    name: "constant-backoff",
    about: "the delay before the next attempt doesn't grow",
    apply: |p| Policy { reconnect: ReconnectChoices { growth: Growth::Constant, ..p.reconnect }, ..p },
};

pub(super) const UNCAPPED_BACKOFF: Fault = Fault {
    name: "uncapped-backoff",
    about: "the delay before the next attempt grows without a cap",
    apply: |p| Policy { reconnect: ReconnectChoices { growth: Growth::Uncapped, ..p.reconnect }, ..p },
};

pub(super) const NO_JITTER: Fault = Fault {
    name: "no-jitter",
    about: "delays are not spread, whatever was asked for",
    apply: |p| Policy { reconnect: ReconnectChoices { spread: Spread::Never, ..p.reconnect }, ..p },
};

pub(super) const JITTER_ALWAYS: Fault = Fault {
    name: "jitter-always",
    about: "delays are spread between nothing and the delay, whatever was asked for",
    apply: |p| Policy { reconnect: ReconnectChoices { spread: Spread::AlwaysFull, ..p.reconnect }, ..p },
};

pub(super) const COUNTER_NOT_RESET: Fault = Fault {
    name: "counter-not-reset",
    about: "a connection doesn't take the schedule back to its begin",
    apply: |p| Policy { reconnect: ReconnectChoices { reset: ResetChoice::Never, ..p.reconnect }, ..p },
};

pub(super) const DOUBLE_RETRY: Fault = Fault {
    name: "double-retry",
    about: "every failure arms two retries",
    apply: |p| Policy { reconnect: ReconnectChoices { guard: Guard::Doubles, ..p.reconnect }, ..p },
};

pub(super) const RETRY_SURVIVES_STOP: Fault = Fault {
    name: "retry-survives-stop",
    about: "stopping leaves the pending retry",
    apply: |p| Policy { reconnect: ReconnectChoices { on_stop: OnStop::LeavesRetry, ..p.reconnect }, ..p },
};

pub(super) const DROP_AT_ONCE: Fault = Fault {
    name: "drop-at-once",
    about: "the loss of a connection starts an attempt at once, whatever was asked for",
    apply: |p| Policy { reconnect: ReconnectChoices { drop: DropChoice::AtOnce, ..p.reconnect }, ..p },
};

pub(super) const DROP_DELAYED: Fault = Fault {
    name: "drop-delayed",
    about: "the loss of a connection is waited out, whatever was asked for",
    apply: |p| Policy { reconnect: ReconnectChoices { drop: DropChoice::Delayed, ..p.reconnect }, ..p },
};

pub(super) const RETRY_ON_FIRST_LOOP: Fault = Fault {
    name: "retry-on-first-loop",
    about: "retries of a group all run on the first loop that failed",
    apply: |p| Policy { reconnect: ReconnectChoices { retry_on: RetryOn::FirstLoop, ..p.reconnect }, ..p },
};
