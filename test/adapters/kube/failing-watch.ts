import { type Kube, keepFed } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { type Failure, silentLog, systemClock } from '../../../src/std/index.ts'

/** What following the ConfigMaps there fails with first. */
export async function whyNotFollowed(kube: Kube): Promise<Failure> {
  const ending = new AbortController()
  const told = Promise.withResolvers<Failure>()
  const nothing = () => undefined
  const store = { put: nothing, remove: nothing, list: () => ({ page: nothing, end: nothing }), saw: nothing }
  const failed = (failure: Failure) => {
    told.resolve(failure)
    ending.abort()
  }
  const feed = { kube, kind: ConfigMaps, scope: {}, store, clock: systemClock, log: silentLog }
  await keepFed({ ...feed, listed: nothing, failed }, ending.signal)
  return told.promise
}
