import { X509Certificate } from 'node:crypto'
import { Deployments, Secrets, textIn } from '../../api/index.ts'
import { hours } from '../../std/index.ts'
import { type CheckContext, type DoctorFinding, type Examination, fail, ok, warn } from './finding.ts'

/** Whoever renews it has done so long before. */
const LATE = hours(24 * 7)
/** Of our own authority: nothing renews it, and every agent has to be told of another one. */
const AUTHORITY_LATE = hours(24 * 365)

/** What kas shows its callers, in a cluster where it is installed; elsewhere it is not looked for. */
export const examineCertificates: Examination = async (context) => {
  const { kube, namespace } = context
  if (!(await kube.get(Deployments, { name: 'kas', namespace }))) return []
  const kas = await examineCertificate(context, 'kas-tls', {
    late: LATE,
    remedy: `Look at \`kubectl logs -n ${namespace} deployment/certificates\`, or at what else fills that Secret.`,
  })
  const authority = await examineCertificate(context, 'berth-authority', {
    late: AUTHORITY_LATE,
    remedy: 'Make another one: docs/installation.md, Certificates.',
  })
  // Where others make the certificates there is no authority of ours.
  return [...kas, ...authority.filter(({ mark }) => mark === 'warn')]
}

async function examineCertificate(
  { kube, namespace, now }: CheckContext,
  name: string,
  { late, remedy }: { late: number; remedy: string },
): Promise<DoctorFinding[]> {
  const secret = await kube.get(Secrets, { name, namespace })
  const text = secret && textIn(secret, 'tls.crt')
  if (!text) return [fail(`there is no certificate in Secret ${namespace}/${name}`, remedy)]
  const until = new X509Certificate(text).validToDate
  const said = `the certificate in ${namespace}/${name} is good until ${until.toISOString().slice(0, 10)}`
  if (until.getTime() < now) return [fail(said.replace('is good', 'was good'), remedy)]
  return [until.getTime() < now + late ? warn(said, remedy) : ok(said)]
}
