import type { ContainerState, ContainerStatus } from '../../../../src/api/index.ts'
import { ago, container, exit, fallen, live, NODE, pod, type Row, running, SET_UP, starting, waiting } from './objects.ts'

const podOf = (main: ContainerStatus, init: ContainerStatus[] = []) => [pod({ main: [main], init, conditions: [NODE, SET_UP] })]
/** What a kubelet 1.36 shows of a container between two starts, however long that is. */
const ended = (how: ContainerState, restartCount: number, name = 'tools') =>
  container(name, how, { restartCount, lastState: how })
/** It was started again, so many seconds ago. */
const again = (seconds: number, how: ContainerState, restartCount: number, more: Partial<ContainerStatus> = {}) =>
  container('tools', { running: { startedAt: ago(seconds) } }, { restartCount, lastState: how, ready: true, ...more })
const afterTenMinutes: ContainerState = {
  terminated: { exitCode: 1, reason: 'Error', startedAt: ago(640), finishedAt: ago(20) },
}

/** Containers that ended more than once, as a kubelet shows them that says nothing of its back-off. */
export const CRASHES: Row[] = [
  {
    why: 'loop: a second end is one, at once',
    given: { deployment: starting, pods: podOf(ended(exit(3), 1)) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
    says: /exit code 3 \(Error\).*started 2 times/,
  },
  {
    why: 'loop: a second end is one, also where nobody counted',
    given: { deployment: starting, pods: podOf(container('tools', exit(3), { lastState: exit(3) })) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'loop: its Deployment has not heard of the end yet',
    given: { deployment: running, pods: podOf(ended(exit(3), 2)) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'loop: one that ends well',
    given: { deployment: fallen, pods: podOf(ended(exit(0), 1)) },
    state: 'Failed',
    reason: 'ContainerCompleted',
    step: 'Run tools',
  },
  {
    why: 'loop: one that ends well, and its Deployment has not heard of it yet',
    given: { deployment: running, pods: podOf(ended(exit(0), 1)) },
    state: 'Failed',
    reason: 'ContainerCompleted',
    step: 'Run tools',
  },
  {
    why: 'loop: killed for its memory',
    given: { deployment: fallen, pods: podOf(ended(exit(137, 'OOMKilled'), 1)) },
    state: 'Failed',
    reason: 'OutOfMemory',
    step: 'Run tools',
  },
  {
    why: 'loop: a shell that does not find its command',
    given: { deployment: starting, pods: podOf(ended(exit(127), 1)) },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'ContainerStart tools',
  },
  {
    why: 'loop: it runs again, and its Deployment takes that for well',
    given: { deployment: running, pods: podOf(again(9, exit(3), 2)) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
    says: /started 3 times/,
  },
  {
    why: 'loop: it is over when the container has stayed up',
    given: { deployment: running, pods: podOf(again(10, exit(3), 2)) },
    state: 'Running',
  },
  {
    why: 'loop: it is not over while the container has not answered its probe',
    given: { deployment: fallen, pods: podOf(again(30, exit(3), 2, { ready: false })) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'loop: it is not over while the container is made anew',
    given: { deployment: fallen, pods: podOf(container('tools', waiting(''), { restartCount: 2, lastState: exit(3) })) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'loop: one that waits for the init containers of a new sandbox is in none',
    given: {
      deployment: fallen,
      pods: podOf(container('tools', waiting('PodInitializing'), { restartCount: 2, lastState: exit(255, 'Unknown') }), [
        container('clone', { running: {} }, { restartCount: 1, lastState: exit(0) }),
      ]),
    },
    state: 'Starting',
    step: 'InitContainer clone',
  },
  {
    why: 'once: it runs again, and is not Running before it has stayed up',
    given: { deployment: running, pods: podOf(again(9, exit(3), 1)) },
    state: 'Starting',
    reason: 'ContainerRestarting',
    step: 'Run tools',
    until: 100,
  },
  {
    why: 'once: it runs again, and nobody knows how it ended',
    given: {
      deployment: running,
      pods: podOf(container('tools', { running: { startedAt: ago(3) } }, { restartCount: 1, ready: true })),
    },
    state: 'Starting',
    reason: 'ContainerRestarting',
    step: 'Run tools',
    until: 120,
    says: /nobody knows how/,
  },
  {
    why: 'once: it is Running when it has stayed up',
    given: { deployment: running, pods: podOf(again(10, exit(3), 1)) },
    state: 'Running',
  },
  {
    why: 'once: it is not Running before the time of its class',
    given: { deployment: running, pods: podOf(again(29, exit(3), 1)), steadyAfter: 30_000 },
    state: 'Starting',
    reason: 'ContainerRestarting',
    step: 'Run tools',
    until: 100,
  },
  {
    why: 'loop: it is over after the time of its class, which may be none',
    given: { deployment: running, pods: podOf(again(0, exit(3), 2)), steadyAfter: 0 },
    state: 'Running',
  },
  {
    why: 'a first start is Running at once',
    given: { deployment: running, pods: podOf(live({ state: { running: { startedAt: ago(0) } }, ready: true })) },
    state: 'Running',
  },
  {
    why: 'an end after ten minutes is the first again',
    given: { deployment: fallen, pods: podOf(ended(afterTenMinutes, 7)) },
    state: 'Starting',
    reason: 'ContainerRestarting',
    step: 'Run tools',
    until: 100,
  },
  {
    why: 'init: a second end is a loop, at once',
    given: { deployment: starting, pods: [pod({ init: [ended(exit(128), 1, 'clone')] })] },
    state: 'Failed',
    reason: 'InitContainerFailed',
    step: 'InitContainer clone',
  },
  {
    why: 'init: one that runs a second time is given its time',
    given: { deployment: starting, pods: [pod({ init: [{ ...again(9, exit(128), 1), name: 'clone' }] })] },
    state: 'Starting',
    step: 'InitContainer clone',
  },
  {
    why: 'init: one that runs a third time has to show that it can',
    given: { deployment: starting, pods: [pod({ init: [{ ...again(60, exit(128), 2), name: 'clone' }] })] },
    state: 'Failed',
    reason: 'InitContainerFailed',
    step: 'InitContainer clone',
    says: /started 3 times/,
  },
  {
    why: 'init: one that was done before has nothing to show',
    given: { deployment: starting, pods: [pod({ init: [{ ...again(9, exit(0), 4), name: 'clone' }] })] },
    state: 'Starting',
    step: 'InitContainer clone',
  },
]
