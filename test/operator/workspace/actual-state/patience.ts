import { ago, container, event, exit, looping, NODE, pod, type Row, SET_UP, starting, waiting } from './objects.ts'

const back = (message: string, age = 200) =>
  pod({ age, main: [container('tools', waiting('ImagePullBackOff', message))], conditions: [NODE, SET_UP] })
const unclear = 'Back-off pulling image "x"'
const timeout = 'dial tcp 10.0.0.1:443: i/o timeout'

/** It waits for a hundred seconds, and there is an Event of an attempt that began so many seconds ago. */
const attempted = (first: number): Row['given'] => ({
  deployment: starting,
  pods: [back(`Back-off pulling image "x": ErrImagePull: ${timeout}`)],
  events: [event('Failed', `Failed to pull image "x": ${timeout}`, { first, container: 'tools' })],
  before: { waiting: { reason: 'RegistryUnreachable', since: ago(100) } },
})

/** Since when something lasts is remembered where the cluster does not say it. */
export const PATIENCE: Row[] = [
  {
    why: 'what is seen for the first time begins now',
    given: { deployment: starting, pods: [back(unclear)] },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'what was seen before goes on',
    given: { deployment: starting, pods: [back(unclear)], before: { waiting: { reason: 'ImagePullBackOff', since: ago(100) } } },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 20,
  },
  {
    why: 'other words for it do not begin anew',
    given: { deployment: starting, pods: [back(timeout)], before: { waiting: { reason: 'ImagePullBackOff', since: ago(100) } } },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 20,
  },
  {
    why: 'another attempt, with an Event of its own, does not begin anew',
    given: attempted(5),
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 20,
  },
  {
    why: 'what an Event has seen earlier counts from there',
    given: attempted(110),
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 10,
  },
  {
    why: 'after its time it is Failed',
    given: { deployment: starting, pods: [back(unclear)], before: { waiting: { reason: 'ImagePullBackOff', since: ago(120) } } },
    state: 'Failed',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    says: /waited 2 minutes/,
  },
  {
    why: 'what Failed stays so while it lasts',
    given: {
      deployment: starting,
      pods: [back(timeout)],
      before: { failure: { reason: 'ImagePullBackOff', message: '', since: ago(130) } },
    },
    state: 'Failed',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
  },
  {
    why: 'another step begins anew',
    given: { deployment: starting, pods: [back(unclear)], before: { waiting: { reason: 'VolumeNotMounted', since: ago(170) } } },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'another pod begins anew',
    given: {
      deployment: starting,
      pods: [back(unclear, 10)],
      before: { waiting: { reason: 'ImagePullBackOff', since: ago(300) } },
    },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 110,
  },
  {
    why: 'a failure of long ago that has no time is none',
    given: { deployment: starting, pods: [back(unclear)], before: { failure: { reason: 'ImagePullBackOff', message: '' } } },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'a time that cannot be read is none',
    given: {
      deployment: starting,
      pods: [back(unclear)],
      before: { waiting: { reason: 'ImagePullBackOff', since: 'yesterday' } },
    },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'reasons that are not of pods are not remembered',
    given: {
      deployment: starting,
      pods: [back(unclear)],
      before: { failure: { reason: 'DevfileInvalid', message: '', since: ago(900) } },
    },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'a crash loop stays Failed in the moment in which its container has just ended',
    given: {
      deployment: starting,
      pods: [pod({ age: 900, main: [container('tools', { terminated: { exitCode: 1 } })] })],
      before: { failure: { reason: 'CrashLoopBackOff', message: '', since: ago(400) } },
    },
    state: 'Failed',
    reason: 'ContainerRestarting',
    step: 'Run tools',
  },
  {
    why: 'a crash loop is Failed at once, however new',
    given: { deployment: starting, pods: [pod({ age: 20, main: [looping(exit(1), 2)] })] },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
]
