import {
  ago,
  container,
  event,
  exit,
  fallen,
  live,
  looping,
  NODE,
  pod,
  type Row,
  running,
  SET_UP,
  starting,
  waiting,
} from './objects.ts'

const podOf = (...main: ReturnType<typeof container>[]) => [pod({ main, conditions: [NODE, SET_UP] })]
const waits = (word: string, message: string) => podOf(container('tools', waiting(word, message)))
const tools = { container: 'tools' }
/** As the runner of the commands tells it. */
const TOLD = 'command postStart.tools.1.inst ended with exit code 2; its log is /logs/inst.log'
const LAST_WORDS = exit(137, 'Error', `${TOLD}\nnpm: not found\nexit code 2\n`)

/** What keeps containers from being created and started. */
const starts: Row[] = [
  {
    why: 'run: nobody says why',
    given: { deployment: starting, pods: waits('RunContainerError', '') },
    state: 'Failed',
    reason: 'RunContainerError',
    step: 'ContainerStart tools',
    says: /no reason is given/,
  },
  {
    why: 'postStart: its own words',
    given: { deployment: starting, pods: waits('PostStartHookError', 'command timed out after 30s') },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /timed out after 30s/,
  },
  {
    why: 'config: a Secret that is late is waited for',
    given: { deployment: starting, pods: waits('CreateContainerConfigError', 'secret "workspace-web-variables" not found') },
    state: 'Starting',
    reason: 'EnvSourceMissing',
    step: 'ContainerStart tools',
    until: 60,
  },
  {
    why: 'config: a key that is not there',
    given: {
      deployment: starting,
      pods: waits('CreateContainerConfigError', "couldn't find key TOKEN in Secret team-a/workspace-web-variables"),
    },
    state: 'Starting',
    reason: 'EnvSourceMissing',
    step: 'ContainerStart tools',
    until: 60,
  },
  {
    why: 'config: an image that runs as root',
    given: {
      deployment: starting,
      pods: waits(
        'CreateContainerConfigError',
        'container has runAsNonRoot and image will run as root (pod: "workspace-web-1", container: tools)',
      ),
    },
    state: 'Failed',
    reason: 'ImageRunsAsRoot',
    step: 'ContainerStart tools',
  },
  {
    why: 'config: anything else, at once',
    given: {
      deployment: starting,
      pods: waits(
        'CreateContainerConfigError',
        'failed to prepare subPath for volumeMount "workspace-data" of container "tools"',
      ),
    },
    state: 'Failed',
    reason: 'CreateContainerConfigError',
    step: 'ContainerStart tools',
  },
  {
    why: 'create: a program that is not in the image',
    given: {
      deployment: starting,
      pods: waits('CreateContainerError', 'failed to generate container spec: exec: "tial": executable file not found in $PATH'),
    },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'ContainerStart tools',
  },
  {
    why: 'create: an image without a command',
    given: { deployment: starting, pods: waits('CreateContainerError', 'failed to generate spec: no command specified') },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'ContainerStart tools',
  },
  {
    why: 'create: a runtime that is slow is waited for',
    given: { deployment: starting, pods: waits('CreateContainerError', 'context deadline exceeded') },
    state: 'Starting',
    reason: 'RuntimeBusy',
    step: 'ContainerStart tools',
    until: 120,
  },
  {
    why: 'create: a name that is still taken is waited for',
    given: {
      deployment: starting,
      pods: waits(
        'CreateContainerError',
        'failed to reserve container name: name "tools_workspace-web-1" is reserved for "0f1e"',
      ),
    },
    state: 'Starting',
    reason: 'RuntimeBusy',
    step: 'ContainerStart tools',
    until: 120,
  },
  {
    why: 'create: anything else, at once',
    given: { deployment: starting, pods: waits('CreateContainerError', 'invalid mount target /proc') },
    state: 'Failed',
    reason: 'CreateContainerError',
    step: 'ContainerStart tools',
  },
  {
    why: 'run: a command that may not be executed',
    given: {
      deployment: starting,
      pods: waits(
        'RunContainerError',
        'failed to create containerd task: runc create failed: exec: "/start.sh": permission denied: unknown',
      ),
    },
    state: 'Failed',
    reason: 'CommandNotExecutable',
    step: 'ContainerStart tools',
  },
  {
    why: 'run: a program for another processor',
    given: { deployment: starting, pods: waits('RunContainerError', 'exec /bin/app: exec format error') },
    state: 'Failed',
    reason: 'ImageWrongPlatform',
    step: 'Image tools',
  },
  {
    why: 'run: anything else, at once',
    given: { deployment: starting, pods: waits('RunContainerError', 'failed to create shim task: OCI runtime create failed') },
    state: 'Failed',
    reason: 'RunContainerError',
    step: 'ContainerStart tools',
  },
  {
    why: 'postStart: its failure, as the kubelet says it',
    given: { deployment: starting, pods: waits('PostStartHookError', 'PostStartHook failed') },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
  },
  {
    why: 'postStart: the runner in the words of a kubelet 1.36',
    given: {
      deployment: starting,
      pods: waits(
        'PostStartHookError',
        `Exec lifecycle hook ([sh /.workspace-data/scripts/run]) for Container "tools" in Pod "web_team-a(1)" failed - error: command 'sh' exited with 2: ${TOLD}\n, message: "${TOLD}\\n"`,
      ),
      events: [event('FailedPostStartHook', 'PostStartHook failed', tools)],
    },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /\| command postStart\.tools\.1\.inst ended with exit code 2; its log is \/logs\/inst\.log( \||$)/,
  },
  {
    why: 'postStart: the last words of its container say most',
    given: {
      deployment: starting,
      pods: podOf(container('tools', waiting('PostStartHookError', `failed: ${TOLD}`), { lastState: LAST_WORDS })),
      events: [event('FailedPostStartHook', 'PostStartHook failed', tools)],
    },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /inst\.log \| npm: not found \| exit code 2/,
  },
  {
    why: 'postStart: a kubelet 1.36 between two attempts, without Events',
    given: { deployment: starting, pods: podOf(container('tools', LAST_WORDS)) },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /inst\.log \| npm: not found/,
  },
  {
    why: 'postStart: its container runs again, and has to stay up',
    given: {
      deployment: running,
      pods: podOf(
        container('tools', { running: { startedAt: ago(3) } }, { ready: true, restartCount: 1, lastState: LAST_WORDS }),
      ),
    },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /npm: not found.*started 2 times/,
  },
  {
    why: 'postStart: its container runs again for long, and its commands are not done',
    given: {
      deployment: starting,
      pods: podOf(
        container('tools', { running: { startedAt: ago(60) } }, { ready: false, restartCount: 1, lastState: LAST_WORDS }),
      ),
    },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
  },
  {
    why: 'postStart: a container that waits for the commands of all is no silent server',
    given: {
      deployment: starting,
      pods: [
        pod({
          conditions: [NODE, SET_UP],
          asked: [{ name: 'tools', startupProbe: { exec: { command: ['sh', '/.workspace-data/scripts/await-turns'] } } }],
          main: [container('tools', { running: { startedAt: ago(5) } }, { started: false })],
        }),
      ],
    },
    state: 'Starting',
    step: 'PostStart',
  },
  {
    why: 'postStart: other last words are of the container itself',
    given: { deployment: starting, pods: podOf(looping(exit(1, 'Error', `background ${TOLD}`))) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'postStart: its failure, as the Event says it',
    given: {
      deployment: starting,
      pods: podOf(looping(exit(137))),
      events: [event('FailedPostStartHook', "PostStartHook failed: command '/bin/sh -c npm ci' exited with 1: ENOENT", tools)],
    },
    state: 'Failed',
    reason: 'PostStartFailed',
    step: 'PostStart tools',
    says: /npm ci.*started 5 times/,
  },
]

/** What ends containers. */
const ends: Row[] = [
  {
    why: 'crash: again and again',
    given: { deployment: starting, pods: podOf(looping(exit(1))) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
    says: /exit code 1 \(Error\).*started 5 times/,
  },
  {
    why: 'crash: its last words, in one line',
    given: { deployment: starting, pods: podOf(looping(exit(1, 'Error', 'panic: no config\n\ngoroutine 1\n'))) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
    says: /panic: no config goroutine 1/,
  },
  {
    why: 'crash: once is no loop',
    given: { deployment: starting, pods: podOf(container('tools', exit(1), { restartCount: 0 })) },
    state: 'Starting',
    reason: 'ContainerRestarting',
    step: 'Run tools',
    until: 100,
  },
  {
    why: 'crash: one that runs again is forgiven',
    given: { deployment: starting, pods: podOf(live({ lastState: exit(1), restartCount: 1 })) },
    state: 'Starting',
    step: 'Probes',
  },
  {
    why: 'crash: nobody knows how it ended',
    given: { deployment: fallen, pods: podOf(looping({})) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
  },
  {
    why: 'crash: a fault of memory',
    given: { deployment: starting, pods: podOf(looping(exit(139))) },
    state: 'Failed',
    reason: 'CrashLoopBackOff',
    step: 'Run tools',
    says: /exit code 139/,
  },
  {
    why: 'end: a command that does not stay',
    given: { deployment: starting, pods: podOf(looping(exit(0))) },
    state: 'Failed',
    reason: 'ContainerCompleted',
    step: 'Run tools',
  },
  {
    why: 'end: killed for its memory',
    given: { deployment: fallen, pods: podOf(looping(exit(137, 'OOMKilled'))) },
    state: 'Failed',
    reason: 'OutOfMemory',
    step: 'Run tools',
  },
  {
    why: 'end: killed for its memory the first time',
    given: { deployment: fallen, pods: podOf(container('tools', exit(137, 'OOMKilled'))) },
    state: 'Starting',
    reason: 'OutOfMemory',
    step: 'Run tools',
    until: 100,
  },
  {
    why: 'end: killed by somebody',
    given: { deployment: fallen, pods: podOf(looping(exit(137))) },
    state: 'Failed',
    reason: 'ContainerKilled',
    step: 'Run tools',
  },
  {
    why: 'end: a shell that does not find its command',
    given: { deployment: starting, pods: podOf(looping(exit(127))) },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'ContainerStart tools',
  },
  {
    why: 'end: a shell that may not execute its command',
    given: { deployment: starting, pods: podOf(looping(exit(126))) },
    state: 'Failed',
    reason: 'CommandNotExecutable',
    step: 'ContainerStart tools',
  },
  {
    why: 'end: a program that never started',
    given: {
      deployment: starting,
      pods: podOf(looping(exit(128, 'StartError', 'exec: "serve": executable file not found in $PATH: unknown'))),
    },
    state: 'Failed',
    reason: 'CommandNotFound',
    step: 'ContainerStart tools',
  },
  {
    why: 'end: a program that never started, and nobody knows why',
    given: { deployment: starting, pods: podOf(looping(exit(128, 'ContainerCannotRun', 'odd'))) },
    state: 'Failed',
    reason: 'RunContainerError',
    step: 'ContainerStart tools',
  },
]

export const CONTAINERS: Row[] = [...starts, ...ends]
