{% test km_anonymous(model, k, m=2, transaction='transaction_id', item='item') %}
-- k^m-anonymity for m of 1 or 2, from its definition: the rows are the violations, so no rows mean that it holds.
-- It shares nothing with anondb: whoever audits the release can read all of it here.
with released as (
    select distinct {{ transaction }} as transaction_id, {{ item }} as item from {{ model }}
)

select item as first_item, null as second_item, count(*) as support
from released
group by item
having count(*) < {{ k }}
union all
select left_side.item as first_item, right_side.item as second_item, count(*) as support
from released as left_side
join released as right_side on left_side.transaction_id = right_side.transaction_id and left_side.item < right_side.item
where {{ m }} >= 2
group by left_side.item, right_side.item
having count(*) < {{ k }}
{% endtest %}
