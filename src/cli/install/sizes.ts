import type { AnyObject, Deployment } from '../../api/index.ts'
import { amountOf, Failure } from '../../std/index.ts'

/** Throws `invalid` where a container asks for more than its limits allow, which the API server refuses when half is installed. */
export function assertSizes(objects: readonly AnyObject[]): void {
  for (const { metadata, spec } of objects.filter(isDeployment)) {
    for (const { resources: { requests = {}, limits = {} } = {} } of spec?.template.spec?.containers ?? []) {
      const wrong = Object.keys(requests).find((name) => amountIn(requests, name) > amountIn(limits, name))
      if (wrong === undefined) continue
      throw new Failure('invalid', `${metadata.name} requests ${wrong}: ${requests[wrong]}, and its limit is ${limits[wrong]}`, {
        remedy: `Write programs.${metadata.name}.resources so that no limit is below its request. What they leave out is as Berth ships it.`,
      })
    }
  }
}

const amountIn = (amounts: Readonly<Record<string, string | number>>, name: string): number =>
  amountOf(amounts[name] ?? '') ?? Number.POSITIVE_INFINITY

const isDeployment = (object: AnyObject): object is AnyObject & Deployment => object.kind === 'Deployment'
