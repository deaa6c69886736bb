import { X509Certificate } from 'node:crypto'
import { BERTH_AUTHORITY, type CoreSecret, Deployments, Secrets, textIn } from '../../api/index.ts'
import { hours, isFailure } from '../../std/index.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

/** Whoever renews it has done so long before. */
const LATE = hours(24 * 7)
/** Nothing renews an authority of ours, and every agent has to be told of another one. Those of others may live for weeks. */
const AUTHORITY_LATE = hours(24 * 365)
const OURS = `CN=${BERTH_AUTHORITY}`

/** What kas and the proxy show their callers, in a cluster where they are installed; elsewhere it is not looked for. */
export const examineCertificates: Examination = async (context) => {
  const findings: DoctorFinding[] = []
  for (const [program, secret] of [
    ['kas', 'kas-tls'],
    ['proxy', 'berth-proxy-tls'],
  ] as const)
    if (await context.kube.get(Deployments, { name: program, namespace: context.namespace }))
      findings.push(...(await examineSecret(context, secret)))
  return findings
}

async function examineSecret({ kube, namespace, now }: CheckContext, name: string): Promise<DoctorFinding[]> {
  const remedy = `Look at \`kubectl logs -n ${namespace} deployment/certificates\`, or at what else fills that Secret.`
  const where = `${namespace}/${name}`
  try {
    const secret = await kube.get(Secrets, { name, namespace })
    const [certificate, authority] = [certificateIn(secret, 'tls.crt'), certificateIn(secret, 'ca.crt')]
    if (!certificate) return [fail(`there is no certificate in Secret ${where}`, remedy)]
    const shown = told(`the certificate in ${where}`, certificate, { now, late: LATE, remedy })
    if (!authority) return [shown]
    const isOurs = authority.subject === OURS
    const late = isOurs ? AUTHORITY_LATE : LATE
    if (now + late < authority.validToDate.getTime()) return [shown]
    const mend = isOurs ? 'Make another one: docs/installation.md, Certificates.' : 'Ask whoever signed it for another one.'
    return [shown, told(`the authority in ${where}`, authority, { now, late, remedy: mend })]
  } catch (thrown) {
    if (!isFailure(thrown, 'forbidden')) throw thrown
    return [warn(`Secret ${where} could not be read`, 'Run the doctor with the right to read it.')]
  }
}

/** Nothing where there is none that can be read. */
function certificateIn(secret: CoreSecret | undefined, key: string): X509Certificate | undefined {
  try {
    return new X509Certificate((secret && textIn(secret, key)) ?? '')
  } catch {
    // It is no PEM of a certificate.
    return undefined
  }
}

function told(
  what: string,
  { validToDate }: X509Certificate,
  { now, late, remedy }: { now: number; late: number; remedy: string },
): DoctorFinding {
  const until = validToDate.getTime()
  const day = validToDate.toISOString().slice(0, 10)
  if (until < now) return fail(`${what} was good until ${day}`, remedy)
  return until < now + late ? warn(`${what} is good until ${day}`, remedy) : ok(`${what} is good until ${day}`)
}
