import type { AnyObject } from '../../../api/index.ts'
import { beginningOf, isRecord } from '../../../std/index.ts'

/** An object of which all that Berth itself reads has the form that its type says. */
export interface Formed {
  object: AnyObject
  /** What has another form in the manifest, as the rest of a sentence about the object. That is not in `object`. */
  problem?: string
}

/** What stands here becomes a part of a path to the API server, and of a status. Longer or other texts name no object that there can be. */
const API_VERSION = /^(?:[\w.-]{1,253}\/)?[\w.-]{1,63}$/
const KIND = /^\w{1,63}$/
/** https://github.com/kubernetes/apimachinery/blob/master/pkg/api/validation/path/name.go */
const NAME = /^(?!\.{1,2}$)[^/%]{1,253}$/
/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names */
const NAMESPACE = /^[a-z0-9-]{1,63}$/

const MOST_SHOWN = 100

/**
 * Git may hold anything in any place, whatever the types here say. A field of metadata with nothing behind it, which templates
 * leave, is as one that is not there, and a label or annotation with nothing behind it is empty: the API server reads both so.
 */
export function formed(written: AnyObject): Formed {
  const { apiVersion, kind } = written
  const { name, namespace, labels, annotations, ...rest } = written.metadata
  const problems: string[] = []
  // What stands in a Secret by mistake may be secret, too.
  const shown = kind === 'Secret' ? () => '***' : quoted
  const fitting = (field: string, text: unknown, form: RegExp, most: number): string => {
    if (typeof text === 'string' && form.test(text)) return text
    problems.push(`has ${field} ${shown(text)}${typeof text === 'string' ? ', which names nothing that there can be' : NO_TEXT}`)
    return beginningOf(String(text).replaceAll(/[/%]/g, '_'), most)
  }
  const texts = (field: string, values: unknown): Record<string, string> | undefined => {
    if (values === undefined || values === null) return undefined
    if (isRecord(values)) return textsIn(field, values, { problems, shown })
    problems.push(`has metadata.${field} ${shown(values)}; write a mapping`)
    return undefined
  }
  const own = namespace === undefined || namespace === null || namespace === '' ? undefined : namespace
  const [labelTexts, annotationTexts] = [texts('labels', labels), texts('annotations', annotations)]
  const object: AnyObject = {
    ...written,
    apiVersion: fitting('apiVersion', apiVersion, API_VERSION, 63),
    kind: fitting('kind', kind, KIND, 62),
    metadata: {
      ...rest,
      name: fitting('metadata.name', name, NAME, 252),
      ...(own !== undefined && { namespace: fitting('metadata.namespace', own, NAMESPACE, 62) }),
      ...(labelTexts && { labels: labelTexts }),
      ...(annotationTexts && { annotations: annotationTexts }),
    },
  }
  return problems.length > 0 ? { object, problem: problems.slice(0, MOST_TOLD).join('; and ') } : { object }
}

const MOST_TOLD = 3
const NO_TEXT = ', which is no text; put it in quotes'

interface Telling {
  problems: string[]
  shown: (value: unknown) => string
}

function textsIn(field: string, values: Record<string, unknown>, { problems, shown }: Telling): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === 'string') texts[key] = value
    else if (value === null || value === undefined) texts[key] = ''
    else problems.push(`has metadata.${field} ${beginningOf(key, MOST_SHOWN)}: ${shown(value)}${NO_TEXT}`)
  }
  return texts
}

const quoted = (value: unknown): string => beginningOf(JSON.stringify(value) ?? 'nothing', MOST_SHOWN)
