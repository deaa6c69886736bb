import { isRecord } from '../../std/index.ts'
import { degraded, HEALTHY, type Health, progressing } from './verdict.ts'
import { conditionIn, saying, type View } from './view.ts'

/** https://gateway-api.sigs.k8s.io/guides/implementers/#standard-status-fields-and-conditions */

export function gatewayClass({ condition }: View): Health {
  const accepted = condition('Accepted')
  if (accepted?.status === 'True') return HEALTHY
  return accepted?.status === 'False' ? degraded(saying(accepted)) : progressing('no controller has accepted it yet')
}

export function gateway({ condition }: View): Health {
  const accepted = condition('Accepted')
  if (accepted?.status === 'False') return degraded(saying(accepted))
  const programmed = condition('Programmed')
  if (programmed?.status === 'True') return HEALTHY
  return progressing(programmed ? saying(programmed) : 'no controller has accepted it yet')
}

/** Every parent has to accept a route, and to find what it refers to. */
export function route({ status }: View): Health {
  const parents = Array.isArray(status.parents) ? status.parents.filter(isRecord) : []
  if (parents.length === 0) return progressing('no gateway has accepted it yet')
  for (const parent of parents) {
    const refused = ['Accepted', 'ResolvedRefs']
      .map((type) => conditionIn(parent.conditions, type))
      .find((condition) => condition?.status === 'False')
    if (refused) return degraded(saying(refused))
    if (conditionIn(parent.conditions, 'Accepted')?.status !== 'True') return progressing('a gateway has not accepted it yet')
  }
  return HEALTHY
}
