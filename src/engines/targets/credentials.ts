import { type Caches, OF_TARGETS, readTarget, secretFinder, secretWatches } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  credentialsRefOf,
  type DeploymentTarget,
  DeploymentTargets,
  indexBy,
  keyOf,
  opens,
  type Ref,
  refOf,
} from '../../api/index.ts'
import { Failure, type Secret } from '../../std/index.ts'
import type { Watch } from '../controller/index.ts'

/** Finds the Secret with the credentials of a target. One that is for another target counts as none. */
export function credentialsFinder(caches: Caches): (target: DeploymentTarget) => CoreSecret | undefined {
  const find = secretFinder(caches, OF_TARGETS)
  return (target) => {
    const secret = find(credentialsRefOf(target))
    return secret && opens(secret, target) ? secret : undefined
  }
}

const byCredentials = indexBy((target: DeploymentTarget) => [keyOf(credentialsRefOf(target))])

/** Wakes what a change of the credentials of a target concerns. */
export function watchCredentials(caches: Caches, wakes: (target: DeploymentTarget) => Ref[]): Watch[] {
  const targets = caches.of(DeploymentTargets)
  return secretWatches(OF_TARGETS, (secret) => targets.by(byCredentials, keyOf(refOf(secret))).flatMap(wakes))
}

/** Why the kubeconfig of a Secret cannot be used for that server; nothing where it can. */
export type CheckKubeconfig = (secret: CoreSecret, kubeconfig: Secret<string>, server: string) => Failure | undefined

/** Checks each version of a Secret once: to parse a kubeconfig costs more than the rest of a reconcile. */
export function createKubeconfigCheck(): CheckKubeconfig {
  const checked = new WeakMap<CoreSecret, { server: string; failure: Failure | undefined }>()
  return (secret, kubeconfig, server) => {
    const known = checked.get(secret)
    if (known?.server === server) return known.failure
    const failure = whyUnusable(kubeconfig, server)
    checked.set(secret, { server, failure })
    return failure
  }
}

function whyUnusable(kubeconfig: Secret<string>, server: string): Failure | undefined {
  try {
    readTarget(kubeconfig, { server })
    return undefined
  } catch (thrown) {
    return Failure.from(thrown)
  }
}
