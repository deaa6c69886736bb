import { createSecureContext } from 'node:tls'
import { type Clock, Failure, type Keys, type ListenerKeys, type Log, minutes, pemOf, Secret } from '../../std/index.ts'
import { readNamed } from './named.ts'

/** Files in PEM. */
export interface KeyFiles {
  certificate: string
  key: string
}

/** The files are looked at so often, in milliseconds; a kubelet brings a changed Secret within a minute or two. */
const LOOK = minutes(1)

/**
 * The certificate and the key that `--tls-cert` and `--tls-key` name. Who renews them writes other files under the same names: the
 * pair is read again and again, and one that does not fit together is told and waited for, because files are not changed two at a time.
 */
export async function openKeys(files: KeyFiles, clock: Clock, log: Log): Promise<ListenerKeys & { stop(): void }> {
  const first = await read(files)
  const uses = new Set<(keys: Keys) => void>()
  let shown = first
  let isOver = false
  let isDoubted = false
  async function look(): Promise<void> {
    try {
      const now = await read(files)
      if (isOver) return
      if (!isSame(now, shown)) {
        for (const use of uses) use(now)
        shown = now
        log.info('The certificate was renewed', { file: files.certificate })
      }
      isDoubted = false
    } catch (thrown) {
      if (!isDoubted) log.warn('The certificate is not renewed', { error: Failure.from(thrown) })
      isDoubted = true
    }
    if (!isOver) stopLooking = clock.after(LOOK, look)
  }
  let stopLooking = clock.after(LOOK, look)
  return {
    ...first,
    onRenewal: (use) => {
      uses.add(use)
      // A listener may have been long in opening.
      if (shown !== first) use(shown)
    },
    stop() {
      isOver = true
      stopLooking()
    },
  }
}

async function read({ certificate, key }: KeyFiles): Promise<Keys> {
  const keys = {
    certificate: await readNamed(certificate, '--tls-cert'),
    key: new Secret<Uint8Array>(await readNamed(key, '--tls-key')),
  }
  try {
    createSecureContext(pemOf(keys))
  } catch (thrown) {
    throw new Failure('invalid', `${certificate} and ${key} are not a certificate and the key to it`, {
      cause: thrown,
      remedy: 'Name two PEM files that belong together with --tls-cert and --tls-key.',
    })
  }
  return keys
}

const isSame = (one: Keys, other: Keys): boolean =>
  Buffer.compare(one.certificate, other.certificate) === 0 && Buffer.compare(one.key.reveal(), other.key.reveal()) === 0
