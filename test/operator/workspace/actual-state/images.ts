import { container, event, live, NODE, pod, type Row, SET_UP, starting, waiting } from './objects.ts'

const IMAGE = 'registry.example.com/team/tools:1'
const pulls = (word: string, message?: string) =>
  pod({ main: [container('tools', waiting(word, message))], conditions: [NODE, SET_UP] })
const failed = (said: string) =>
  pulls('ImagePullBackOff', `Back-off pulling image "${IMAGE}": ErrImagePull: rpc error: code = Unknown desc = ${said}`)
const resolving = `failed to pull and unpack image "${IMAGE}": failed to resolve reference "${IMAGE}": `

/** What runtimes and registries say of an image. */
export const IMAGES: Row[] = [
  {
    why: 'image: a pull that is under way',
    given: {
      deployment: starting,
      pods: [pod({ main: [container('tools', waiting('ContainerCreating'))], conditions: [NODE, SET_UP] })],
    },
    state: 'Starting',
    step: 'Image tools',
  },
  {
    why: 'image: a name that is none, at once',
    given: {
      deployment: starting,
      pods: [pulls('InvalidImageName', 'Failed to apply default image tag "UPPER": couldn\'t parse image name')],
    },
    state: 'Failed',
    reason: 'InvalidImageName',
    step: 'Image tools',
    says: /^container tools of Pod workspace-web-1 names no valid image/,
  },
  {
    why: 'image: never to be pulled and not there, at once',
    given: {
      deployment: starting,
      pods: [pulls('ErrImageNeverPull', `Container image "${IMAGE}" is not present with pull policy of Never`)],
    },
    state: 'Failed',
    reason: 'ErrImageNeverPull',
    step: 'Image tools',
  },
  {
    why: 'image: not there, at once',
    given: { deployment: starting, pods: [failed(`${resolving}${IMAGE}: not found`)] },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: 'Image tools',
    says: /\| rpc error: code = Unknown desc = failed to pull and unpack image [^;]*$/,
  },
  {
    why: 'image: not there, at the first attempt',
    given: { deployment: starting, pods: [pulls('ErrImagePull', 'rpc error: code = NotFound desc = manifest unknown')] },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: 'Image tools',
  },
  {
    why: 'image: not there, where only the Event says so',
    given: {
      deployment: starting,
      pods: [pulls('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`)],
      events: [
        event('Failed', `Failed to pull image "${IMAGE}": rpc error: code = NotFound desc = ${resolving}not found`, {
          container: 'tools',
          count: 3,
        }),
      ],
    },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: 'Image tools',
    says: /3 attempts/,
  },
  {
    why: 'image: an Event about another container says nothing of this one',
    given: {
      deployment: starting,
      pods: [pulls('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`)],
      events: [event('Failed', 'Failed to pull image "other": not found', { container: 'other' })],
    },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: no credentials, at once',
    given: {
      deployment: starting,
      pods: [
        failed(
          `${resolving}unexpected status from HEAD request to https://registry.example.com/v2/team/tools/manifests/1: 401 Unauthorized`,
        ),
      ],
    },
    state: 'Failed',
    reason: 'ImagePullDenied',
    step: 'Image tools',
  },
  {
    why: 'image: what Docker Hub says of images that it does not show',
    given: {
      deployment: starting,
      pods: [
        failed(
          'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
        ),
      ],
    },
    state: 'Failed',
    reason: 'ImagePullDenied',
    step: 'Image tools',
  },
  {
    why: 'image: a name that holds the words',
    given: {
      deployment: starting,
      pods: [pulls('ImagePullBackOff', 'Back-off pulling image "example.com/unauthorized/not-found:1"')],
    },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: another processor, at once',
    given: { deployment: starting, pods: [failed('no match for platform in manifest: not found')] },
    state: 'Failed',
    reason: 'ImageWrongPlatform',
    step: 'Image tools',
  },
  {
    why: 'image: an Event that only repeats the word does not hide the one that explains',
    given: {
      deployment: starting,
      pods: [pulls('ImagePullBackOff', `Back-off pulling image "${IMAGE}"`)],
      events: [
        event('Failed', 'Error: ErrImagePull', { container: 'tools', last: 1 }),
        event('Failed', `Failed to pull image "${IMAGE}": manifest unknown`, { container: 'tools', last: 9 }),
        event('BackOff', 'Failed to pull: toomanyrequests', { container: 'tools', last: 1 }),
      ],
    },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: 'Image tools',
  },
  {
    why: 'image: a signature, where the word is another',
    given: { deployment: starting, pods: [failed('Source image rejected: A signature was required, but no signature exists')] },
    state: 'Failed',
    reason: 'ImageSignatureRefused',
    step: 'Image tools',
  },
  {
    why: 'image: a signature that is not accepted',
    given: {
      deployment: starting,
      pods: [
        pulls(
          'SignatureValidationFailed',
          'SignatureValidationFailed: image pull failed for registry.example.com because the signature validation failed',
        ),
      ],
    },
    state: 'Failed',
    reason: 'ImageSignatureRefused',
    step: 'Image tools',
  },
  {
    why: 'image: a registry that limits pulls is waited for',
    given: {
      deployment: starting,
      pods: [failed('429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit')],
    },
    state: 'Starting',
    reason: 'ImagePullRateLimited',
    step: 'Image tools',
    until: 300,
  },
  {
    why: 'image: a host that is not known is waited for',
    given: { deployment: starting, pods: [failed('dial tcp: lookup registry.example.com on 10.0.0.10:53: no such host')] },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 120,
  },
  ...[
    'unexpected status from HEAD request to https://registry.example.com/v2/team/tools/manifests/1: 429 Too Many Requests',
    'toomanyrequests: You have reached your unauthenticated pull rate limit',
    'received unexpected HTTP status: 429',
    'reading manifest: StatusCode: 429, "slow down"',
  ].map(
    (said): Row => ({
      why: `image: a registry that limits pulls says: ${said}`,
      given: { deployment: starting, pods: [failed(said)] },
      state: 'Starting',
      reason: 'ImagePullRateLimited',
      step: 'Image tools',
      until: 300,
    }),
  ),
  ...['42916', '40312', '50244', '5042'].map(
    (port): Row => ({
      why: `image: the port ${port} is no status`,
      given: {
        deployment: starting,
        pods: [
          failed(
            `${resolving}failed to do request: Head "https://registry.example.com:${port}/v2/": dial tcp: lookup registry.example.com on 10.96.0.10:53: read udp 10.244.0.1:${port}->10.96.0.10:53: i/o timeout`,
          ),
        ],
      },
      state: 'Starting',
      reason: 'RegistryUnreachable',
      step: 'Image tools',
      until: 120,
      says: /read udp 10\.244\.0\.1->10\.96\.0\.10:53/,
    }),
  ),
  ...['429 MB of', 'the layer of 403 bytes of', 'process 503 of'].map(
    (number): Row => ({
      why: `image: ${number} is no status`,
      given: { deployment: starting, pods: [failed(`the runtime gave up ${number} the image`)] },
      state: 'Starting',
      reason: 'ImagePullBackOff',
      step: 'Image tools',
      until: 120,
    }),
  ),
  {
    why: 'image: the same words, whether the kubelet tries or waits, and each once',
    given: {
      deployment: starting,
      pods: [pulls('ErrImagePull', 'rpc error: dial tcp 10.0.0.1:443: i/o timeout')],
      events: [
        event('Failed', `Failed to pull image "${IMAGE}": rpc error: dial tcp 10.0.0.1:443: i/o timeout`, { container: 'tools' }),
      ],
    },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 60,
    says: /\| rpc error: dial tcp 10\.0\.0\.1:443: i\/o timeout \| $/,
  },
  {
    why: 'image: a certificate that is not trusted',
    given: {
      deployment: starting,
      pods: [failed('tls: failed to verify certificate: x509: certificate signed by unknown authority')],
    },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: a registry that is broken',
    given: { deployment: starting, pods: [failed('unexpected status code 503 Service Unavailable')] },
    state: 'Starting',
    reason: 'RegistryUnreachable',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: a disk that is full',
    given: {
      deployment: starting,
      pods: [failed('failed to extract layer: write /var/lib/containerd: no space left on device')],
    },
    state: 'Starting',
    reason: 'NodeDiskFull',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: a reason that nobody gives',
    given: { deployment: starting, pods: [pulls('ErrImagePull')] },
    state: 'Starting',
    reason: 'ImagePullBackOff',
    step: 'Image tools',
    until: 120,
  },
  {
    why: 'image: one of an init container is a matter of the image, too',
    given: {
      deployment: starting,
      pods: [
        pod({
          init: [container('clone', waiting('ErrImagePull', 'manifest unknown'))],
          main: [container('tools', waiting('PodInitializing'))],
        }),
      ],
    },
    state: 'Failed',
    reason: 'ImageNotFound',
    step: 'Image clone',
    says: /^init container clone of Pod/,
  },
  ...(
    [
      ['manifest unknown', 'ImageNotFound', /editor\.image of the class.*--upgrade/],
      ['401 Unauthorized', 'ImagePullDenied', /editor\.image of the class.*imagePullSecrets/],
    ] as const
  ).map(
    ([said, reason, heals]): Row => ({
      why: `image: that of the editor is of the class: ${said}`,
      given: { deployment: starting, pods: [pod({ init: [container('berth-editor', waiting('ErrImagePull', said))] })] },
      state: 'Failed',
      reason,
      step: 'Image berth-editor',
      heals,
    }),
  ),
  {
    why: 'image: the second container waits while the first runs',
    given: {
      deployment: starting,
      pods: [pod({ main: [live({ ready: true }), container('database', waiting('InvalidImageName', 'x'))] })],
    },
    state: 'Failed',
    reason: 'InvalidImageName',
    step: 'Image database',
  },
]
