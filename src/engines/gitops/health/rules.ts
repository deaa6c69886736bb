import type { AnyObject } from '../../../api/index.ts'
import { compile, type Program } from '../../../cel/index.ts'
import { Failure } from '../../../std/index.ts'
import { groupOf } from '../object-id.ts'
import { degraded, HEALTHY, type Health, progressing } from './verdict.ts'

/** How the objects of a kind do, in CEL over `object`; its top-level fields may also be named alone. */
export interface HealthRule {
  group: string
  kind: string
  healthy: string
  progressing?: string | undefined
  failed?: string | undefined
}

export interface HealthRules {
  /** `undefined` where no rule is for the kind. */
  judge(object: AnyObject): Health | undefined
}

const NAMES = ['object', 'apiVersion', 'kind', 'metadata', 'spec', 'status', 'data']

interface Programs {
  healthy: Program
  progressing: Program | undefined
  failed: Program | undefined
}

/** Compiles the rules; one that cannot be is an `invalid` failure that names the field and the position in its text. */
export function healthRules(rules: readonly HealthRule[]): HealthRules {
  const programs = new Map<string, Programs>()
  for (const [index, rule] of rules.entries()) {
    const of = (field: 'healthy' | 'progressing' | 'failed', text: string) =>
      compiled(text, `spec.healthRules[${index}].${field}`)
    programs.set(`${rule.group}/${rule.kind}`, {
      healthy: of('healthy', rule.healthy),
      progressing: rule.progressing === undefined ? undefined : of('progressing', rule.progressing),
      failed: rule.failed === undefined ? undefined : of('failed', rule.failed),
    })
  }
  return {
    judge(object) {
      const rule = programs.get(`${groupOf(object.apiVersion)}/${object.kind}`)
      return rule && judged(object, rule)
    },
  }
}

function compiled(text: string, field: string): Program {
  const program = compile(text, NAMES)
  if (typeof program === 'function') return program
  throw new Failure('invalid', `${field}: ${program.wrong}`, {
    reason: 'HealthRuleInvalid',
    remedy: 'Correct the expression; it is CEL over object, such as object.status.phase == "Ready"',
  })
}

/** An expression without value, as when there is no status yet, is one that does not hold. */
function judged(object: AnyObject, rule: Programs): Health {
  const scope = { ...Object.fromEntries(NAMES.slice(1).map((name) => [name, object[name]])), object }
  if (rule.failed?.(scope)) return degraded('the health rule says that it failed')
  if (rule.progressing?.(scope)) return progressing('the health rule says that it is on its way')
  return rule.healthy(scope) ? HEALTHY : progressing('the health rule does not say that it is healthy')
}
