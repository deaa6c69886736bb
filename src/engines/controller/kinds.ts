import type { Kube } from '../../adapters/kube/index.ts'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type Kind,
  type KubeObject,
  labelledVersion,
} from '../../api/index.ts'
import { areTooFarApart, type Clock, Failure, isFailure, type Log, pause, seconds, VERSION_SKEW } from '../../std/index.ts'

interface Look {
  kube: Pick<Kube, 'get'>
  clock: Clock
  log: Log
  /** Of the program; what has none takes all kinds. */
  version: string | undefined
  signal: AbortSignal
}

/** How long it waits where the API server does not answer. */
const AGAIN = seconds(2)

/**
 * Looks whether the kinds in the cluster are of a version of Berth that this program works with. It waits for the API server, and
 * leaves it at a line in the log where it may not look.
 *
 * @throws Failure `invalid` that names the kind and both versions
 */
export async function requireKinds(kinds: readonly Kind<KubeObject>[], look: Look): Promise<void> {
  const { kube, clock, log, version, signal } = look
  while (version !== undefined && !signal.aborted) {
    try {
      const names = kinds.map(({ plural, group }) => `${plural}.${group}`)
      const found = await Promise.all(names.map((name) => kube.get(CustomResourceDefinitions, { name }, signal)))
      const far = found.find((definition) => definition && areTooFarApart(labelledVersion(definition), version))
      if (far) throw tooFar(far, version)
      return
    } catch (thrown) {
      if (isFailure(thrown, 'invalid')) throw thrown
      const failure = Failure.from(thrown)
      log.warn('the versions of the kinds are not known', { failure })
      if (failure.code === 'forbidden') return
      await pause(clock, AGAIN, signal)
    }
  }
}

const tooFar = (definition: CustomResourceDefinition, version: string): Failure =>
  new Failure(
    'invalid',
    `${definition.metadata.name} is of Berth ${labelledVersion(definition)}, and this program is ${version}`,
    {
      remedy: VERSION_SKEW,
    },
  )
