import { classNames } from '../../parts/class-names.ts'
import hatch from '../../parts/hatch.module.css'
import key from '../../parts/key.module.css'
import { familyClass } from '../../parts/phase-look.ts'
import styles from './gantt.module.css'

export function Key({ always }: { readonly always: boolean }) {
  return (
    <ul className={classNames(key.key, styles.key)} aria-label="Key">
      <li>
        <i className={classNames(styles.fill, familyClass('done'))} />
        happened
      </li>
      <li>
        <i className={classNames(styles.fill, familyClass('work'))} />
        under way
      </li>
      <li>
        <i className={classNames(hatch.forecast, familyClass('work'))} />
        predicted
      </li>
      <li>
        <i className={classNames(styles.soak, familyClass('work'))} />
        soak
      </li>
      {!always && (
        <li>
          <i className={styles.window} />
          window open
        </li>
      )}
      <li>
        <i className={classNames(hatch.hatch, familyClass('undo'))} />
        freeze
      </li>
    </ul>
  )
}
