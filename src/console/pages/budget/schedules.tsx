import type { ScheduleView } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { Card } from '../../parts/card.tsx'
import { ReasonText } from '../../parts/reason-text.tsx'
import table from '../../parts/table.module.css'
import { type Column, TableHead } from '../../parts/table-head.tsx'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import styles from './schedules.module.css'

const none: Readonly<Record<string, ScheduleView>> = {}

const columns: readonly Column[] = [
  { title: 'Schedule', width: styles.name },
  { title: 'Kind', width: styles.kind, look: 'roomy' },
  { title: 'When' },
  { title: 'Next', width: styles.next },
  { title: 'Last', width: styles.last },
  { title: 'State' },
]

/** What will start by itself. */
export function Schedules() {
  const schedules = useLive((state) => state.schedules) ?? none
  const all = Object.values(schedules).sort(
    (a, b) => (a.next ?? '~').localeCompare(b.next ?? '~') || a.name.localeCompare(b.name),
  )
  return (
    <Card title="Schedules" note="what starts by itself">
      {all.length === 0 ? (
        <p className={styles.none}>
          Nothing starts by itself. A ScheduledUpdate starts one update at a time you name, an UpdateSchedule again and
          again.
        </p>
      ) : (
        <table className={table.table}>
          <TableHead columns={columns} />
          <tbody>
            {all.map(({ name, kind, when, next, phase, last, reason }) => (
              <tr key={`${kind}/${name}`}>
                <td className={table.name} title={name}>
                  {name}
                </td>
                <td className={`${text.dim} ${table.roomy}`}>{kind}</td>
                <td className={text.dim} title={when}>
                  {when}
                </td>
                <td>{next === undefined ? '–' : <TimeText at={next} />}</td>
                <td className={text.dim}>{last === undefined ? '–' : <a href={`#/update/${last}`}>{last}</a>}</td>
                <td title={reason?.message}>{reason ? <ReasonText message={reason.message} /> : phase}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
