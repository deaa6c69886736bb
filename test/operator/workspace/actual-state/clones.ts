import { container, exit, looping, pod, type Row, starting, waiting } from './objects.ts'

const CLONER = 'berth-clone'
const URL = 'https://git.example.com/permission-denied/not-found.git'

/** It has failed so often that the kubelet waits. */
const gaveUp = (reason: NonNullable<Row['reason']>, words: string): Row => ({
  why: `clone: ${words}`,
  given: { deployment: starting, pods: [pod({ init: [looping(exit(1, 'Error', `cannot clone ${URL}: ${words}`), 3, CLONER)] })] },
  ...(LATE.includes(reason) ? { state: 'Starting', until: 120 } : { state: 'Failed' }),
  reason,
  step: `InitContainer ${CLONER}`,
  says: /^init container berth-clone .*cannot clone https:.*started 4 times/,
})

/** What may pass is waited for. */
const LATE: readonly Row['reason'][] = ['CloneHostNotFound', 'CloneHostSilent']

/** The last words of the script that clones, as Git, SSH and kas said them. */
export const CLONES: Row[] = [
  gaveUp('CloneDenied', `fatal: Authentication failed for '${URL}/'`),
  gaveUp('CloneDenied', "fatal: could not read Username for 'https://git.example.com': terminal prompts disabled"),
  gaveUp('CloneDenied', `no credentials for ${URL}: the owner may not develop GitProject shop`),
  gaveUp('CloneDenied', `fatal: unable to access '${URL}/': The requested URL returned error: 403`),
  gaveUp('CloneDenied', 'git@git.example.com: Permission denied (publickey).'),
  gaveUp('CloneNotFound', `fatal: repository '${URL}/' not found`),
  gaveUp('CloneNotFound', `fatal: '${URL}' does not appear to be a git repository`),
  gaveUp('CloneRefNotFound', "ref not-found: fatal: couldn't find remote ref not-found"),
  gaveUp(
    'CloneRefNotFound',
    'ref 5d9474c0309b7ca09a182d888f73b37a8fe1362c: error: Server does not allow request for unadvertised object 5d94',
  ),
  gaveUp('CloneRefNotFound', 'the ref -x begins with a dash'),
  gaveUp('CloneHostNotFound', `fatal: unable to access '${URL}/': Could not resolve host: git.example.com`),
  gaveUp('CloneHostNotFound', 'ssh: Could not resolve hostname git.example.com: Name or service not known'),
  gaveUp('CloneHostNotTrusted', 'Host key verification failed.'),
  gaveUp('CloneHostNotTrusted', `fatal: unable to access '${URL}/': SSL certificate problem: self-signed certificate`),
  gaveUp('CloneHostSilent', `fatal: unable to access '${URL}/': Failed to connect to git.example.com port 443 after 130 ms`),
  gaveUp('CloneHostSilent', `fatal: unable to access '${URL}/': Operation too slow. Less than 1 bytes/sec transferred`),
  gaveUp('CloneHostSilent', `no credentials for ${URL}: fatal: unable to access 'https://kas:8156/': Connection timed out`),
  gaveUp('CloneHostSilent', 'fatal: the remote end hung up unexpectedly'),
  gaveUp('CloneVolumeFull', "fatal: cannot create directory at 'src': No space left on device"),
  gaveUp('CloneFailed', 'the volume cannot be written'),
  gaveUp('CloneFailed', 'the image of the cloner has no git'),
  {
    why: 'clone: the first time it is tried again, and the reason is told already',
    given: {
      deployment: starting,
      pods: [pod({ init: [container(CLONER, exit(1, 'Error', `cannot clone ${URL}: fatal: repository '${URL}/' not found`))] })],
    },
    state: 'Starting',
    reason: 'CloneNotFound',
    step: `InitContainer ${CLONER}`,
    until: 100,
  },
  {
    why: 'clone: an image without a shell is none of the devfile',
    given: {
      deployment: starting,
      pods: [pod({ init: [looping(exit(128, 'StartError', 'exec: "sh": executable file not found in $PATH'), 3, CLONER)] })],
    },
    state: 'Failed',
    reason: 'CloneFailed',
    step: `InitContainer ${CLONER}`,
    heals: /projectCloner\.image of the class/,
  },
  {
    why: 'clone: its image is of the class',
    given: { deployment: starting, pods: [pod({ init: [container(CLONER, waiting('ErrImagePull', 'manifest unknown'))] })] },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: `Image ${CLONER}`,
    heals: /projectCloner\.image of the class/,
  },
  {
    why: "clone: another container's words are its own",
    given: { deployment: starting, pods: [pod({ init: [looping(exit(1, 'Error', 'cannot clone x: not found'), 3, 'mine')] })] },
    state: 'Failed',
    reason: 'InitContainerFailed',
    step: 'InitContainer mine',
  },
]
