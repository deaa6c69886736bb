import { container, event, exit, fallen, live, looping, NODE, pod, type Row, SET_UP, starting, waiting } from './objects.ts'

const podOf = (...main: ReturnType<typeof container>[]) => [pod({ main, conditions: [NODE, SET_UP] })]
const tools = { container: 'tools' }

/** Init containers come first, and probes last. */
export const INIT_AND_PROBES: Row[] = [
  {
    why: 'probe: one that only was not ready is not killed for that',
    given: {
      deployment: fallen,
      pods: podOf(looping(exit(1))),
      events: [event('Unhealthy', 'Readiness probe failed: 503', tools)],
    },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'init: the step names the one that runs',
    given: {
      deployment: starting,
      pods: [
        pod({
          init: [container('prepare', exit(0)), container('clone', { running: {} })],
          main: [container('tools', waiting('PodInitializing'))],
        }),
      ],
    },
    state: 'Starting',
    step: 'InitContainer clone',
  },
  {
    why: 'init: one that fails for the first time is tried again',
    given: { deployment: starting, pods: [pod({ init: [container('clone', exit(128))] })] },
    state: 'Starting',
    reason: 'InitContainerFailed',
    step: 'InitContainer clone',
    until: 100,
  },
  {
    why: 'init: one that fails again and again',
    given: {
      deployment: starting,
      pods: [pod({ init: [looping(exit(128, 'Error', 'fatal: Authentication failed'), 5, 'clone')] })],
    },
    state: 'Failed',
    reason: 'InitContainerFailed',
    step: 'InitContainer clone',
    says: /^init container clone .*Authentication failed.*started 6 times/,
  },
  {
    why: 'init: one that fails and nobody knows how',
    given: { deployment: starting, pods: [pod({ init: [looping({}, 5, 'clone')] })] },
    state: 'Failed',
    reason: 'InitContainerFailed',
    step: 'InitContainer clone',
  },
  {
    why: 'init: the one that brings the editor is of the class',
    given: {
      deployment: starting,
      pods: [pod({ init: [looping(exit(1, 'Error', 'the image has no folder /usr/lib/terminal'), 5, 'berth-editor')] })],
    },
    state: 'Failed',
    reason: 'EditorNotBrought',
    step: 'InitContainer berth-editor',
    says: /no folder \/usr\/lib\/terminal/,
  },
  {
    why: 'init: one that ends well and has brought no editor',
    given: {
      deployment: starting,
      pods: podOf(
        container(
          'tools',
          exit(
            137,
            'Error',
            'command postStart.tools.1.berth-editor-brought ended with exit code 127; its log is /logs/x.log\nthe image of the editor has put neither start nor init_tools.sh into /tools\n',
          ),
        ),
      ),
    },
    state: 'Failed',
    reason: 'EditorNotBrought',
    step: 'PostStart tools',
    says: /neither start nor init_tools\.sh/,
    heals: /editor\.image/,
  },
  {
    why: 'init: one that is killed for its memory',
    given: { deployment: starting, pods: [pod({ init: [looping(exit(137, 'OOMKilled'), 5, 'clone')] })] },
    state: 'Failed',
    reason: 'OutOfMemory',
    step: 'InitContainer clone',
  },
  {
    why: 'init: one that does not find its command',
    given: { deployment: starting, pods: [pod({ init: [looping(exit(127), 5, 'clone')] })] },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'InitContainer clone',
  },
  {
    why: 'init: one that is done is no matter',
    given: { deployment: starting, pods: [pod({ init: [container('clone', exit(0))], main: [live()] })] },
    state: 'Starting',
    step: 'Probes',
  },
  {
    why: 'probe: a container that is asked and does not answer yet',
    given: {
      deployment: starting,
      pods: podOf(live()),
      events: [
        event('Unhealthy', 'Readiness probe failed: dial tcp 10.1.0.7:8080: connect: connection refused', { ...tools, count: 6 }),
      ],
    },
    state: 'Starting',
    reason: 'ProbeFailing',
    step: 'Probes tools',
    until: 570,
    says: /connection refused.*6 attempts/,
  },
  {
    why: 'probe: a container that is not asked just starts',
    given: { deployment: starting, pods: podOf(live()) },
    state: 'Starting',
    step: 'Probes',
  },
  {
    why: 'probe: one that answers now is not blamed for before',
    given: {
      deployment: starting,
      pods: podOf(live({ ready: true }), container('database', waiting('ContainerCreating'))),
      events: [event('Unhealthy', 'Readiness probe failed: 503', tools)],
    },
    state: 'Starting',
    step: 'Image database',
  },
  {
    why: 'probe: killed for its liveness',
    given: {
      deployment: fallen,
      pods: podOf(looping(exit(137))),
      events: [event('Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 500', tools)],
    },
    state: 'Failed',
    reason: 'LivenessFailed',
    step: 'Probes tools',
  },
  {
    why: 'probe: killed because it never came up',
    given: {
      deployment: starting,
      pods: podOf(looping(exit(143))),
      events: [event('Unhealthy', 'Startup probe failed: connection refused', tools)],
    },
    state: 'Failed',
    reason: 'LivenessFailed',
    step: 'Probes tools',
  },
  {
    why: 'probe: memory comes before probes',
    given: {
      deployment: fallen,
      pods: podOf(looping(exit(137, 'OOMKilled'))),
      events: [event('Unhealthy', 'Liveness probe failed: timeout', tools)],
    },
    state: 'Failed',
    reason: 'OutOfMemory',
    step: 'Run tools',
  },
]
